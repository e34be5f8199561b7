extension AdminPage {
    static let css = #"""
        :root {
          color-scheme: light dark;
          --ground: light-dark(#f4f5f2, #14171a);
          --card: light-dark(#ffffff, #1c2125);
          --line: light-dark(#dcdfd8, #30373d);
          --text: light-dark(#1c2226, #e4e8ea);
          --quiet: light-dark(#5b666d, #98a4ab);
          --accent: light-dark(#0b6e5f, #3fc2a8);
          --on-accent: light-dark(#ffffff, #06231e);
          --good: light-dark(#1b7a3d, #5fd08a);
          --warn: light-dark(#8a5a00, #e6b450);
          --bad: light-dark(#b3261e, #ff8a80);
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--ground); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
        header {
          display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 2rem; padding: .8rem 1.5rem;
          background: var(--card); border-bottom: 1px solid var(--line); position: sticky; top: 0; z-index: 1;
        }
        h1 { font-size: 1.15rem; margin: 0; letter-spacing: .01em; }
        h2 { font-size: 1rem; margin: 0 0 .6rem; }
        dl { display: flex; flex-wrap: wrap; gap: .3rem 1.6rem; margin: 0; flex: 1; }
        dl div { display: flex; gap: .5rem; align-items: baseline; }
        dt { color: var(--quiet); font-size: .85rem; }
        dd { margin: 0; font: .9rem ui-monospace, monospace; }
        #live { margin: 0; font-size: .85rem; color: var(--quiet); }
        #live::before { content: "●"; margin-right: .4rem; color: var(--warn); }
        #live.on::before { color: var(--good); }
        #live.off::before { color: var(--bad); }
        main { display: grid; grid-template: auto 1fr / 20rem minmax(0, 1fr); gap: 1rem; padding: 1rem 1.5rem; max-width: 90rem; margin: 0 auto; }
        #enrolling, #breaking { grid-column: 1; }
        #lists { grid-area: 1 / 2 / span 2; }
        #locked { max-width: 40rem; margin: 2rem auto; }
        .column { display: grid; gap: 1rem; align-content: start; min-width: 0; }
        section { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem; min-width: 0; }
        section p { margin: 0 0 .7rem; color: var(--quiet); }
        .count { color: var(--quiet); font-weight: 400; font-size: .85rem; margin-left: .3rem; }
        button, select, input, textarea { font: inherit; color: inherit; border: 1px solid var(--line); border-radius: 6px; background: var(--ground); padding: .3rem .6rem; }
        button { cursor: pointer; }
        button:hover { border-color: var(--accent); }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        .primary { background: var(--accent); color: var(--on-accent); border-color: var(--accent); width: 100%; padding: .5rem; font-weight: 600; }
        .danger { color: var(--bad); }
        label { display: grid; grid-template-columns: 7rem 1fr; align-items: center; gap: .5rem; margin-bottom: .5rem; font-size: .9rem; }
        .check { display: flex; margin: 0; white-space: nowrap; }
        .bar { display: flex; flex-wrap: wrap; align-items: center; gap: .4rem .9rem; margin-bottom: .5rem; }
        .bar h2 { margin: 0; flex: 1; }
        .bar input[type=search] { width: 9rem; }
        label[for] { display: block; color: var(--quiet); margin: .5rem 0 .2rem; }
        label select, label input:not([type=checkbox]) { min-width: 0; width: 100%; }
        [hidden] { display: none !important; }
        .row { display: flex; flex-wrap: wrap; gap: .5rem; margin-bottom: .9rem; }
        td .row { gap: .4rem; margin: 0; flex-wrap: nowrap; }
        td button { white-space: nowrap; font-size: .85rem; padding: .1rem .5rem; }
        .cards .row { gap: .4rem; margin: 0; }
        .cards button { font-size: .85rem; padding: .2rem .5rem; }
        fieldset { border: 0; padding: 0; margin: .6rem 0 0; display: flex; flex-wrap: wrap; gap: .4rem; }
        legend { font-size: .85rem; color: var(--quiet); padding: 0; margin-bottom: .25rem; }
        #ticket { margin-top: 1rem; }
        #qr { display: block; width: 100%; height: auto; background: #fff; border-radius: 6px; }
        #ticket-life { margin: .5rem 0 0; font-size: .85rem; }
        textarea { width: 100%; resize: vertical; font: .75rem/1.4 ui-monospace, monospace; word-break: break-all; margin-bottom: .5rem; }
        .plain { list-style: none; margin: 0 0 .8rem; padding: 0; }
        #faults li { color: var(--bad); font-size: .9rem; }
        .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(21rem, 1fr)); gap: .7rem; margin: 0; }
        .cards li { border: 1px solid var(--line); border-radius: 8px; padding: .7rem .8rem; min-width: 0; }
        .cards h3 { margin: 0; font-size: .95rem; display: flex; flex-wrap: wrap; gap: .4rem; align-items: center; }
        .cards dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .1rem .8rem; margin: .4rem 0 .6rem; }
        .cards dd { font-size: .8rem; overflow-wrap: anywhere; }
        button.small, .cards button.small { font: .75rem system-ui, sans-serif; padding: 0 .45rem; color: var(--quiet); }
        .badge { font-size: .75rem; font-weight: 600; border-radius: 99px; padding: 0 .55rem; border: 1px solid currentColor; }
        .good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); } .quiet { color: var(--quiet); }
        .scroll { overflow: auto; max-height: 22rem; }
        table { border-collapse: collapse; width: 100%; font-size: .85rem; }
        th { position: sticky; top: 0; background: var(--card); text-align: left; font-weight: 600; color: var(--quiet); }
        th, td { padding: .25rem .9rem .25rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
        td { overflow-wrap: anywhere; }
        td:first-child { white-space: nowrap; font-variant-numeric: tabular-nums; color: var(--quiet); }
        #events td:nth-child(2) { white-space: nowrap; }
        td code { font: .8rem ui-monospace, monospace; }
        .empty { color: var(--quiet); margin: 0; }
        #notice { position: fixed; right: 1.5rem; bottom: 1.5rem; max-width: 28rem; background: var(--card); border: 1px solid var(--bad); border-radius: 8px; padding: .7rem 1rem; box-shadow: 0 4px 20px #0003; }
        dialog { max-width: min(26rem, calc(100vw - 2rem)); background: var(--card); color: var(--text); border: 1px solid var(--line); border-radius: 10px; padding: 1.2rem; }
        dialog::backdrop { background: #0006; }
        dialog p { margin: 0 0 1rem; overflow-wrap: anywhere; }
        dialog .row { justify-content: end; margin: 0; }
        @media (max-width: 60rem) {
          main { grid-template: none; grid-template-columns: minmax(0, 1fr); padding: 1rem; }
          #enrolling, #lists, #breaking { grid-area: auto; }
          .cards { grid-template-columns: minmax(0, 1fr); }
        }
        /* A phone: each row of a table is a card, with the head of its column before each value. */
        @media (max-width: 600px) {
          header { position: static; padding: .8rem 1rem; }
          main { padding: .6rem; gap: .6rem; }
          section { padding: .8rem; }
          button, select, input { min-height: 2.4rem; }
          td button, .cards button { font-size: .9rem; padding: .3rem .7rem; }
          td .row { flex-wrap: wrap; }
          button.small, .cards button.small { min-height: 1.8rem; }
          .check input { min-height: 0; }
          .scroll { max-height: 32rem; }
          table, tbody, tr, td { display: block; }
          thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
          tr { border: 1px solid var(--line); border-radius: 8px; padding: .4rem .7rem; margin-bottom: .5rem; }
          td, td:first-child { display: grid; grid-template-columns: 5rem minmax(0, 1fr); gap: .5rem; padding: .15rem 0; border: 0; white-space: normal; }
          td::before { content: attr(data-label); color: var(--quiet); }
          td[colspan] { display: block; }
          td:empty, td:has(> .row:empty) { display: none; }
          #notice { left: .6rem; right: .6rem; bottom: .6rem; max-width: none; }
        }
        """#
}
