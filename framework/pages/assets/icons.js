"use strict";
// Drawn signs, since not every system's fonts have them.
Cheaptalk.icon = (() => {
  const { s } = Cheaptalk;
  const PATHS = {
    first: "M4 3h2v10H4zM13 3v10L6.5 8z",
    back: "M11 3v10L4.5 8z",
    play: "M4 2.5v11L13.5 8z",
    pause: "M4 3h3v10H4zM9 3h3v10H9z",
    forward: "M5 3v10l6.5-5z",
    last: "M10 3h2v10h-2zM3 3v10l6.5-5z",
    system: "M8 1.5a6.5 6.5 0 1 0 0 13a6.5 6.5 0 0 0 0-13zM8 3.2v9.6a4.8 4.8 0 0 0 0-9.6z",
    light:
      "M8 5a3 3 0 1 0 0 6a3 3 0 0 0 0-6zM7.3 1h1.4v2.3H7.3zM7.3 12.7h1.4V15H7.3zM1 7.3h2.3v1.4H1zM12.7 7.3H15v1.4h-2.3zM2.6 3.6l1-1l1.6 1.6l-1 1zM10.8 11.8l1-1l1.6 1.6l-1 1zM10.8 4.2l1.6-1.6l1 1l-1.6 1.6zM2.6 12.4l1.6-1.6l1 1l-1.6 1.6z",
    link: "M6.7 4.6l1.5-1.5a3.3 3.3 0 0 1 4.7 4.7l-2 2a3.3 3.3 0 0 1-4.7 0l1-1a1.9 1.9 0 0 0 2.7 0l2-2a1.9 1.9 0 0 0-2.7-2.7l-1.1 1zM9.3 11.4l-1.5 1.5a3.3 3.3 0 0 1-4.7-4.7l2-2a3.3 3.3 0 0 1 4.7 0l-1 1a1.9 1.9 0 0 0-2.7 0l-2 2a1.9 1.9 0 0 0 2.7 2.7l1.1-1z",
    done: "M6.4 12.6L2.2 8.4l1.3-1.3l2.9 2.9l6.1-6.1l1.3 1.3z",
    dark: "M6.2 1.8a6.4 6.4 0 1 0 8 8A5.6 5.6 0 0 1 6.2 1.8z",
  };
  return (name) =>
    s(
      "svg",
      { viewBox: "0 0 16 16", width: 16, height: 16, "aria-hidden": "true", fill: "currentColor" },
      s("path", { d: PATHS[name], "fill-rule": "evenodd" }),
    );
})();
