// Reading what an address carries.

// The text itself where it was cut within an escape, as in "%E0": a damaged link must not stop the page.
export function decoded(text, decode = decodeURIComponent) {
  try {
    return decode(text);
  } catch {
    return text;
  }
}
