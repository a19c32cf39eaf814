// Building the page. Text stays text: nothing here parses markup.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element: attributes by name, functions as listeners, children as nodes or text. */
export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/** Make an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") node.addEventListener(name, value);
    else if (name === "class") node.setAttribute("class", value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

/** A word of some language: isolated, in its own direction, with the glyphs of its language. */
export function word(text, language, tag = "bdi", attributes = {}) {
  return el(tag, { class: "word", dir: "auto", lang: language || null, ...attributes }, text);
}

/** A sign to look at, and the text that a screen reader reads instead. */
export function signed(sign, meaning) {
  return [el("span", { "aria-hidden": "true" }, sign), el("span", { class: "unseen" }, meaning)];
}

/** Announce something to screen readers. */
export function say(text) {
  document.getElementById("said").textContent = text;
}

let toastTimer;

/** Show a short message, text and words, and announce it. */
export function toast(...parts) {
  const place = document.getElementById("toast");
  place.replaceChildren(...parts);
  place.classList.add("shown");
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => place.classList.remove("shown"), 5000);
}

/** Show a message until it is replaced; an empty one hides it. */
export function banner(text) {
  const place = document.getElementById("banner");
  if (place.textContent !== text) place.textContent = text;
  place.hidden = !text;
}

export const number = (value) => value.toLocaleString("en");
export const decimals = (value, digits = 2) =>
  value === null ? "–" : value.toFixed(digits).replace(/^-(?=[0.]*$)/, "").replace("-", "−");
export const duration = (seconds) =>
  seconds < 100 ? `${Math.ceil(seconds)} s` : `${Math.round(seconds / 60)} minutes`;
export const percent = (value) => (value > 0 && value < 0.01 ? "< 1 %" : `${Math.round(value * 100)} %`);
