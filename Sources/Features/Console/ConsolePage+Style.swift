import AgentCore

extension ConsolePage {
    /// Colors by name, so that a style sheet of the settings can change them all.
    static let css = #"""
        :root {
          color-scheme: light dark;
          --ground: light-dark(#f3f4f6, #12161a);
          --card: light-dark(#ffffff, #1b2127);
          --line: light-dark(#d7dbe0, #343d46);
          --edge: light-dark(#80888f, #76828c);
          --text: light-dark(#1a2127, #e6eaee);
          --quiet: light-dark(#566069, #a2adb7);
          --accent: light-dark(#0a5f8a, #6bbfe8);
          --on-accent: light-dark(#ffffff, #06202d);
          --good: light-dark(#1b6f3a, #63d08e);
          --warn: light-dark(#855400, #e8b555);
          --bad: light-dark(#b3261e, #ff8f86);
        }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
        .skip { position: absolute; left: -99rem; }
        .skip:focus { left: 1rem; top: .5rem; z-index: 2; background: var(--card); padding: .5rem 1rem; }
        .unseen {
          position: absolute; width: 1px; height: 1px; margin: 0; overflow: hidden; clip-path: inset(50%);
          white-space: nowrap;
        }
        header {
          display: flex; flex-wrap: wrap; align-items: center; gap: .3rem 1.2rem; padding: .7rem 1.25rem;
          background: var(--card); border-bottom: 1px solid var(--line);
        }
        h1, h2, h3, p { margin: 0; overflow-wrap: anywhere; }
        h1 { font-size: 1.25rem; }
        h2 { font-size: 1.05rem; margin-bottom: .6rem; }
        h3 { font-size: 1rem; }
        #board { flex: 1; color: var(--quiet); }
        #live { font-size: .9rem; color: var(--quiet); }
        #live::before { content: "●"; margin-right: .4rem; color: var(--warn); }
        #live.on::before { color: var(--good); }
        #live.off::before { color: var(--bad); }
        main { padding: 1rem; max-width: 120rem; margin: 0 auto; outline: none; }
        #content { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1rem; align-items: start; }
        .column { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; }
        .column:last-child { grid-column: 1 / -1; }
        section {
          background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: 1rem; min-width: 0;
        }
        #locked, #landing { max-width: 40rem; margin: 2rem auto; }
        #locked p { margin-bottom: .6rem; }
        .count { color: var(--quiet); font-weight: 400; font-size: .9rem; }
        .quiet, .empty { color: var(--quiet); }
        .good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); }
        .plain { list-style: none; margin: 0; padding: 0; }
        .facts { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: .25rem 1rem; margin: 0; }
        .facts dt { color: var(--quiet); }
        .facts dd { margin: 0; overflow-wrap: anywhere; }
        button, select, input {
          font: inherit; color: inherit; border: 1px solid var(--edge); border-radius: 6px; background: var(--card);
          padding: .35rem .7rem; min-height: 2.5rem;
        }
        input[type=checkbox], input[type=radio] {
          min-height: 0; width: 1.15rem; height: 1.15rem; accent-color: var(--accent);
        }
        button { cursor: pointer; }
        button:hover { border-color: var(--accent); }
        button:disabled { cursor: default; opacity: .6; }
        :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
        .primary { background: var(--accent); color: var(--on-accent); border-color: var(--accent); font-weight: 600; }
        #authorize button { justify-self: start; }
        form, #people { display: grid; grid-template-columns: minmax(0, 1fr); gap: .7rem; }
        label { display: grid; gap: .2rem; }
        label input, label select { width: 100%; min-width: 0; }
        .check { display: flex; align-items: center; gap: .5rem; }
        .row { display: flex; flex-wrap: wrap; gap: .6rem; }
        .bar { display: flex; flex-wrap: wrap; align-items: center; gap: .6rem; margin-bottom: .6rem; }
        .bar h2 { flex: 1; margin: 0; }
        fieldset { border: 0; padding: 0; margin: 0; display: grid; gap: .4rem; }
        legend { padding: 0; margin-bottom: .3rem; }
        #prompts > li { border: 2px solid var(--accent); border-radius: 8px; padding: .9rem; margin-bottom: .8rem; }
        #prompts h3 { margin-bottom: .4rem; }
        #prompts .facts { margin-bottom: .6rem; }
        #prompts .left:not(:empty), #sessions button, #mpin .row { margin-top: .5rem; }
        #sessions button { margin-right: .5rem; }
        #troubles li {
          border-left: 4px solid var(--warn); padding: .2rem .8rem; margin-bottom: .6rem; overflow-wrap: anywhere;
        }
        #troubles li.bad { border-color: var(--bad); color: inherit; }
        #sensors li {
          display: grid; grid-template-columns: minmax(0, 1fr) auto 8rem; gap: .2rem .8rem; align-items: center;
          padding: .35rem 0; border-bottom: 1px solid var(--line);
        }
        #sensors li:last-child { border: 0; }
        #sensors .name { overflow-wrap: anywhere; }
        #sensors .value { font-variant-numeric: tabular-nums; text-align: right; }
        #sensors .range { grid-column: 2 / -1; text-align: right; font-size: .8rem; color: var(--quiet); }
        #sensors .range:empty { display: none; }
        svg { display: block; width: 8rem; height: 2rem; }
        svg polyline { fill: none; stroke: var(--accent); stroke-width: 1.5; vector-effect: non-scaling-stroke; }
        #sessions li, #accounts li, #mpin li, #health li { padding: .5rem 0; border-bottom: 1px solid var(--line); }
        #sessions { margin-bottom: .8rem; }
        #accounts li:last-child, #health li:last-child { border: 0; }
        #qr {
          display: block; width: min(100%, 16.5rem); height: auto; background: #fff; border-radius: 6px;
          margin-bottom: .6rem; image-rendering: pixelated;
        }
        #login-step {
          display: grid; grid-template-columns: minmax(0, 1fr); gap: .6rem; justify-items: start;
          border: 2px solid var(--accent); border-radius: 8px; padding: .9rem;
        }
        #login-step form { width: 100%; justify-items: start; }
        #login-step label { width: 100%; }
        #login-link { overflow-wrap: anywhere; color: var(--accent); font-weight: 600; padding: .35rem 0; }
        #login-text:empty { display: none; }
        summary { cursor: pointer; }
        summary h2 { display: inline; }
        details[open] > summary { margin-bottom: .7rem; }
        #publish { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) auto; align-items: end; margin-bottom: .7rem; }
        .scroll { overflow: auto; max-height: 24rem; }
        .lines { font-size: .9rem; }
        .lines li { padding: .3rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
        .lines code { font: inherit; font-family: ui-monospace, monospace; }
        .lines .head { color: var(--quiet); display: block; font-size: .85rem; }
        #stale { border-left: 4px solid var(--bad); padding: .4rem .8rem; margin-bottom: .8rem; background: var(--card); }
        .stale #content { filter: grayscale(1); }
        #notice {
          position: fixed; right: 1rem; bottom: 1rem; max-width: min(30rem, calc(100vw - 2rem)); overflow-wrap: anywhere;
          background: var(--card); border: 2px solid var(--bad); border-radius: 8px; padding: .7rem 1rem;
          box-shadow: 0 4px 20px #0004;
        }
        #notice.done { border-color: var(--good); }
        @media (max-width: 79.99rem) {
          #sensors li { grid-template-columns: minmax(0, 1fr) auto; }
          #sensors svg { grid-column: 1 / -1; width: 100%; }
        }
        @media (min-width: 80rem) {
          #content { grid-template-columns: repeat(3, minmax(0, 1fr)); }
          .column:last-child { grid-column: auto; }
        }
        @media (max-width: 40rem) {
          header { padding: .7rem 1rem; }
          #board { flex-basis: 100%; order: 1; }
          main { padding: .6rem; }
          #content { grid-template-columns: minmax(0, 1fr); gap: .6rem; }
          .column { gap: .6rem; }
          section { padding: .8rem; }
          #publish { grid-template-columns: minmax(0, 1fr); }
        }
        @media (prefers-contrast: more) { :root { --line: var(--edge); --quiet: var(--text); } }
        @media (forced-colors: active) { svg polyline { stroke: CanvasText; } }
        """#
}
