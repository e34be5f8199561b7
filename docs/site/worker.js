// Browsers start no worker for a page that was opened as a file; the search needs one. Runs its script in a frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      // What is posted before the script has been loaded waits for it.
      this.ready = new Promise((resolve) => {
        frame.addEventListener("load", () => {
          const inside = frame.contentWindow;
          inside.postMessage = (data) => this.receive(data);
          const script = inside.document.createElement("script");
          script.src = new URL(address, location.href);
          script.addEventListener("load", () => resolve(inside));
          inside.document.body.append(script);
        }, { once: true });
      });
      document.body.append(frame);
    }

    receive(data) {
      const event = new MessageEvent("message", { data });
      this.dispatchEvent(event);
      if (this.onmessage) this.onmessage(event);
    }

    async postMessage(data) {
      const inside = await this.ready;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }
  };
}
