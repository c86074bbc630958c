"use strict";
// The one global: data files call Cheaptalk.receive, and the other scripts add their parts to it.
const Cheaptalk = (() => {
  const BUILD = document.documentElement.dataset.build || "";
  const KEY = /^[\w.-]+(\/[\w.-]+)*$/;
  const KEPT = 40;

  // --- data -------------------------------------------------------------------------------------

  // A script's address is the only thing here that could run code, so only our data files pass.
  const checked = (url) => {
    if (!/^data\/[\w.\/-]+\.js\?v=\w*$/.test(url) || url.includes("..")) throw new Error(`not a data file: ${url}`);
    return url;
  };
  const policy = window.trustedTypes
    ? window.trustedTypes.createPolicy("cheaptalk", { createScriptURL: checked })
    : { createScriptURL: checked };
  const cache = new Map();
  const waiting = new Map();

  function receive(key, text) {
    const entry = waiting.get(key);
    if (entry) entry.resolve(JSON.parse(text));
  }

  /** The data of a key, loaded by a script tag: a page that is opened from disk may not fetch. */
  function load(key) {
    if (!KEY.test(key)) return Promise.reject(new Error("There is no such page."));
    const there = cache.get(key);
    if (there) return there;
    const promise = new Promise((resolve, reject) => {
      waiting.set(key, { resolve, reject });
      const script = document.createElement("script");
      const end = () => {
        script.remove();
        waiting.delete(key);
      };
      script.onload = () => {
        end();
        reject(new Error("The data file holds something else."));
      };
      script.onerror = () => {
        end();
        reject(new Error("There is no data for this page."));
      };
      script.src = policy.createScriptURL(`data/${key}.js?v=${BUILD}`);
      document.head.append(script);
    });
    cache.set(key, promise);
    const forget = () => cache.delete(key);
    // All messages of a run may take much room, so whoever asks for them keeps them, and no longer than they are shown.
    promise.then(key.endsWith("/messages") ? forget : () => {}, forget);
    for (const old of cache.keys()) {
      if (cache.size <= KEPT) break;
      if (old.includes("/game/") || old.includes("/texts/")) cache.delete(old);
    }
    return promise;
  }

  // --- elements ---------------------------------------------------------------------------------

  const SVG = "http://www.w3.org/2000/svg";
  const SAFE =
    /^(class|id|type|role|title|for|tabindex|scope|colspan|value|min|max|step|name|placeholder|open|hidden|disabled|selected|download|lang|autocomplete|spellcheck|src|alt|aria-[\w-]+|data-[\w-]+|viewBox|width|height|x|y|x1|x2|y1|y2|cx|cy|r|rx|d|points|fill|fill-rule|text-anchor|preserveAspectRatio)$/;

  function build(namespace, tag, attributes, children) {
    const element = namespace ? document.createElementNS(SVG, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === undefined || value === null || value === false) continue;
      if (name === "on") for (const [event, handler] of Object.entries(value)) element.addEventListener(event, handler);
      else if (name === "vars")
        for (const [key, v] of Object.entries(value)) element.style.setProperty(`--${key}`, String(v));
      else if (name === "href") {
        if (!/^(#|traces\/[\w.\/-]+$)/.test(value)) throw new Error(`not an address of ours: ${value}`);
        element.setAttribute("href", value);
      } else if (SAFE.test(name)) element.setAttribute(name, value === true ? "" : String(value));
      else throw new Error(`attribute ${name} is not in use here`);
    }
    add(element, children);
    return element;
  }

  function add(element, children) {
    for (const child of children) {
      if (child === undefined || child === null || child === false) continue;
      if (Array.isArray(child)) add(element, child);
      else element.append(child instanceof Node ? child : document.createTextNode(String(child)));
    }
  }

  /** An element. Children that are not elements become text, whatever they hold. */
  const h = (tag, attributes, ...children) => build(false, tag, attributes, children);
  const s = (tag, attributes, ...children) => build(true, tag, attributes, children);

  // --- numbers and words ------------------------------------------------------------------------

  const known = (value) => value !== null && value !== undefined && Number.isFinite(value);
  function number(value, percent = false) {
    if (!known(value)) return "–";
    if (percent) return `${(100 * value).toFixed(1)}%`;
    const whole = Math.round(value);
    return Math.abs(value - whole) < 1e-9 ? String(whole) : fixed(value);
  }
  function fixed(value) {
    if (!known(value)) return "–";
    const size = Math.abs(value);
    return value.toFixed(size < 100 ? 2 : size < 1000 ? 1 : 0);
  }
  /** How the numbers of a column are written: with as many digits for one as for another. */
  function writer(values, percent) {
    const whole = values.every((value) => value === null || value === undefined || Number.isInteger(value));
    return (value) => (percent || whole ? number(value, percent) : fixed(value));
  }
  const count = (value) => value.toLocaleString("en").replaceAll(",", "\u2009");
  const plain = (name) => String(name).replaceAll("_", " ");
  /** A strategy's short name, which tells it apart from all others on these pages. */
  const names = new Map();
  const short = (name) => {
    const plainly = name.replace(/ \(adversarial\)$/, "");
    return names.has(plainly) ? names.get(plainly) + name.slice(plainly.length) : name;
  };
  /** A name that may be broken after its marks, and not within its words. */
  const breakable = (name) => name.split(/(?<=[,:/])/).flatMap((part) => [part, h("wbr")]);
  const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
  const listed = (items) =>
    items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
  function seconds(value) {
    if (value < 0.001) return `${Math.round(value * 1e6)} µs`;
    if (value < 1) return `${Math.round(value * 1e3)} ms`;
    if (value < 120) return `${value.toFixed(1)} s`;
    return value < 7200 ? `${Math.round(value / 60)} min` : `${(value / 3600).toFixed(1)} h`;
  }
  const money = (value) =>
    value === null || value === undefined ? "–" : `$${value < 1 ? value.toFixed(4) : value.toFixed(2)}`;
  const day = (iso) => (iso ? iso.slice(0, 16).replace("T", " ") : "–");

  // --- addresses --------------------------------------------------------------------------------

  const address = (...parts) => `#/${parts.map((part) => encodeURIComponent(part)).join("/")}`;
  function decoded(part) {
    try {
      return decodeURIComponent(part);
    } catch {
      return part;
    }
  }
  function place() {
    const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
    return { parts: path.split("/").filter(Boolean).map(decoded), query: new URLSearchParams(query) };
  }

  return {
    receive,
    load,
    h,
    s,
    number,
    writer,
    count,
    plain,
    names,
    short,
    breakable,
    plural,
    listed,
    seconds,
    money,
    day,
    address,
    place,
  };
})();
