// Browsers start no worker for a page that was opened as a file; the search needs one. Runs its script in a frame instead.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      const inside = frame.contentWindow;
      // What arrives before the script has been loaded waits for it.
      this.ready = new Promise((resolve) => {
        const script = frame.contentDocument.createElement("script");
        script.src = new URL(address, location.href);
        script.addEventListener("load", () => resolve(inside));
        inside.postMessage = (data) => {
          const event = new MessageEvent("message", { data });
          this.dispatchEvent(event);
          if (this.onmessage) this.onmessage(event);
        };
        frame.contentDocument.body.append(script);
      });
    }

    async postMessage(data) {
      const inside = await this.ready;
      inside.dispatchEvent(new inside.MessageEvent("message", { data }));
    }
  };
}
