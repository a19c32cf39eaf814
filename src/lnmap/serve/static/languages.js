// What to call the two languages of a model.

let names;
try {
  names = new Intl.DisplayNames(["en"], { type: "language" });
} catch {
  names = null;
}

/** Name of one side's language: 'French', or 'target language' when it is not known. */
export function languageName(model, side) {
  const code = model[side].language;
  const name = code && names ? names.of(code) : code;
  return name || `${side} language`;
}

/** 'in French', or 'in the target language'. */
export function inLanguage(model, side) {
  return `in ${model[side].language ? "" : "the "}${languageName(model, side)}`;
}

export const asked = (direction) => (direction === "backward" ? "target" : "source");
export const answering = (direction) => (direction === "backward" ? "source" : "target");
