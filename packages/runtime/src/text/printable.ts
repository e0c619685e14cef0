/**
 * Characters that a terminal interprets instead of showing them: C0, DEL and C1 controls, line and
 * paragraph separators, and the controls of bidirectional text (Unicode UAX #9: marks, embeddings,
 * overrides, isolates). None is outside the Basic Multilingual Plane.
 */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
/** The same, but for the two that the layout of a text is made of. */
const CONTROL_IN_LINES =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/**
 * Makes untrusted text (a path, a name, a message that quotes them) safe for a terminal or for one
 * line: control characters, which could colour, hide or forge output, are escaped. Escaping twice
 * has no further effect.
 */
export function printable(text: string): string {
  return text.replace(CONTROL, escaped);
}

/** Joins lines, each made printable, so that no line can contain a line break. */
export function printableLines(lines: readonly string[]): string {
  return `${lines.map(printable).join('\n')}\n`;
}

/** As `printable`, for text that has its layout already: line feeds and tabs stay. In JSON the escapes mean the same characters. */
export function printableText(text: string): string {
  return text.replace(CONTROL_IN_LINES, escaped);
}

function escaped(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
