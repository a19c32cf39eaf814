// A text field that completes words: the combobox pattern of WAI-ARIA, with a list that opens below.

import { get } from "./api.js";
import { el, say, word } from "./dom.js";

let count = 0;

/**
 * Make a field for words of one side of a model.
 * onChoose gets the word when a suggestion is taken or Enter is pressed.
 */
export function combobox({ label, side, model, language, onChoose, placeholder = "", value = "", big = false }) {
  const id = `combo-${++count}`;
  const list = el("ul", { id: `${id}-list`, role: "listbox", class: "options", hidden: true, "aria-label": label });
  const input = el("input", {
    id, type: "text", role: "combobox", class: "word", dir: "auto", lang: language || null,
    "aria-label": label, "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": list.id,
    autocomplete: "off", autocapitalize: "none", autocorrect: "off", spellcheck: "false", maxlength: 200, placeholder,
    input: () => later(suggest), keydown: onKey, blur: () => setTimeout(close, 120),
  });
  input.value = value;
  const box = el("div", { class: big ? "combo big" : "combo" }, input, list);
  let words = [], active = -1, timer, request;

  function later(action) {
    clearTimeout(timer);
    timer = setTimeout(action, 90);
  }

  async function suggest() {
    const prefix = input.value;
    request?.abort();
    if (!prefix.trim()) return close();
    request = new AbortController();
    try {
      const found = await get(model.id, "complete", { prefix, side, limit: 8 }, request.signal);
      if (prefix === input.value && document.activeElement === input) show(found.words);
    } catch (error) {
      if (error.name !== "AbortError") close();
    }
  }

  function show(found) {
    words = found;
    active = -1;
    list.replaceChildren(...words.map((text, i) =>
      word(text, language, "li", {
        id: `${id}-${i}`, role: "option", "aria-selected": "false", class: "word",
        pointerdown: (event) => { event.preventDefault(); choose(text); },
      })));
    list.hidden = !words.length;
    input.setAttribute("aria-expanded", String(words.length > 0));
    input.removeAttribute("aria-activedescendant");
    say(words.length ? `suggestions: ${words.length}` : "no suggestions");
  }

  function close() {
    clearTimeout(timer);
    request?.abort();
    words = [];
    active = -1;
    list.hidden = true;
    input.setAttribute("aria-expanded", "false");
    input.removeAttribute("aria-activedescendant");
  }

  function move(step) {
    if (!words.length) return suggest();
    active = (active + step + words.length + (active < 0 && step < 0 ? 1 : 0)) % words.length;
    [...list.children].forEach((item, i) => item.setAttribute("aria-selected", String(i === active)));
    list.children[active].scrollIntoView({ block: "nearest" });
    input.setAttribute("aria-activedescendant", list.children[active].id);
  }

  function choose(text) {
    input.value = text;
    close();
    onChoose?.(text);
  }

  function onKey(event) {
    if (event.isComposing) return; // an input method is still at work on the letters
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (event.key === "Enter") {
      event.preventDefault();
      const text = active >= 0 ? words[active] : input.value.trim();
      if (text) choose(text);
    } else if (event.key === "Escape") {
      if (list.hidden) input.value = "";
      close();
    }
  }

  return { box, input, get value() { return input.value.trim(); }, set value(text) { input.value = text; close(); } };
}
