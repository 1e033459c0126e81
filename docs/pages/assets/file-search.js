"use strict";
// Search where the site is opened as files: a browser starts no worker for a file, so that its script runs in a frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    #ready;
    #window;

    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.title = "search";
      this.#ready = new Promise((done) => {
        const start = () => {
          document.body.append(frame);
          this.#window = frame.contentWindow;
          this.#window.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          const script = this.#window.document.createElement("script");
          script.src = url;
          script.onload = done;
          this.#window.document.head.append(script);
        };
        if (document.body) start();
        else document.addEventListener("DOMContentLoaded", start);
      });
    }

    postMessage(data) {
      this.#ready.then(() => this.#window.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {}
  };
}
