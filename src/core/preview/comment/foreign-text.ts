/**
 * Characters that hide, reverse or forge the text beside them: C0 and C1 controls, bidirectional controls, zero-width
 * characters, variation selectors and tags, lone surrogates, and characters for private use.
 */
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ue000-\uf8ff\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}]/gu;
/** The longest name of an object with its namespace has 317 characters. */
const LONGEST = 400;

/**
 * Foreign text on one line, without invisible characters.
 * @param longest a longer text is shortened to this length
 */
export function visible(text: string, longest: number = LONGEST): string {
  const line = text
    .slice(0, longest * 4)
    .replace(/\s+/g, ' ')
    .replace(INVISIBLE, '\ufffd')
    .trim();
  const points = [...line];
  return points.length > longest ? `${points.slice(0, longest - 1).join('')}…` : line;
}

/**
 * Foreign text as prose in Markdown: no mark-up, no HTML, no link, and no mention or reference of any forge (`@name`,
 * `#12`, `!12`, `~label`, `%milestone`, `$snippet`, `&epic`).
 */
export function prose(text: string, longest?: number): string {
  return visible(text, longest)
    .replace(/[\\`*_{}[\]()<>#|~!&$%@^:+=-]/g, (char) => ENTITIES.get(char) ?? `\\${char}`)
    .replace(/(\\?[#~!$%@^]|&amp;)(?=\w)/g, '$1\u200b')
    .replace(/:(?=\/\/)|(?<=www)\./gi, '$&\u200b');
}

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  // A backslash before these characters would be displayed if they have no special meaning.
  ...['@', ':', '=', '+', '-', '%', '$', '^'].map((char) => [char, char] as const),
]);

/** Foreign text as inline code. Characters that would end the code or the table cell are replaced by similar ones. */
export function code(text: string): string {
  const shown = fenced(text).replaceAll('|', '∣');
  return `\`${shown === '' ? ' ' : shown}\``;
}

/**
 * A line of foreign text inside a code block, which it cannot end. It is also not HTML for a reader that does not
 * support code blocks.
 */
export function fenced(text: string, longest?: number): string {
  return visible(text, longest).replaceAll('`', 'ˋ').replaceAll('<', '‹').replaceAll('>', '›');
}

/** A line of a file inside a code block: as `fenced`, and its spaces keep their places. */
export function fileLine(text: string): string {
  return text
    .slice(0, LONGEST)
    .replaceAll('\t', '→')
    .replace(INVISIBLE, '\ufffd')
    .trimEnd()
    .replaceAll('`', 'ˋ')
    .replaceAll('<', '‹')
    .replaceAll('>', '›');
}

/**
 * Foreign text in an HTML element of a Markdown text. Some readers interpret mark-up and mentions there, and others do
 * not.
 */
export function inElement(text: string): string {
  return visible(text)
    .replace(/[#~!$%@^&](?=\w)|:(?=\/\/)|(?<=www)\./gi, '$&\u200b')
    .replace(/[^\p{L}\p{N} .,:/\u200b-]/gu, (char) => `&#${char.codePointAt(0)};`);
}

/** Foreign text in HTML or SVG. */
export function markup(text: string, longest?: number): string {
  return visible(text, longest).replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
