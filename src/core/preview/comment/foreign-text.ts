/**
 * What hides, turns around or forges the text beside it: C0 and C1 controls, bidirectional controls, zero-width
 * characters, variation selectors and tags, lone surrogates, and characters for private use.
 */
const INVISIBLE =
  /[\u0000-\u001f\u007f-\u009f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ue000-\uf8ff\u{e0000}-\u{e0fff}\u{f0000}-\u{10ffff}]/gu;
const LONGEST = 300;

/** Text of others on one line, bounded, with nothing in it that is not seen. */
export function visible(text: string): string {
  const line = text
    .slice(0, LONGEST * 4)
    .replace(/\s+/g, ' ')
    .replace(INVISIBLE, '\ufffd')
    .trim();
  const points = [...line];
  return points.length > LONGEST ? `${points.slice(0, LONGEST - 1).join('')}…` : line;
}

/**
 * Text of others as prose in Markdown: no mark-up, no HTML, no link, and no mention or reference of any forge (`@name`,
 * `#12`, `!12`, `~label`, `%milestone`, `$snippet`, `&epic`).
 */
export function prose(text: string): string {
  return visible(text)
    .replace(/[\\`*_{}[\]()<>#|~!&$%@^:+=-]/g, (char) => ENTITIES.get(char) ?? `\\${char}`)
    .replace(/(\\?[#~!$%@^]|&amp;)(?=\w)/g, '$1\u200b')
    .replace(/:(?=\/\/)|(?<=www)\./gi, '$&\u200b');
}

const ENTITIES = new Map([
  ['&', '&amp;'],
  ['<', '&lt;'],
  ['>', '&gt;'],
  // A backslash before these is shown where they have no meaning.
  ...['@', ':', '=', '+', '-', '%', '$', '^'].map((char) => [char, char] as const),
]);

/** Text of others as inline code. What would end it, or the cell of a table, becomes a look-alike. */
export function code(text: string): string {
  const shown = fenced(text).replaceAll('|', '∣');
  return `\`${shown === '' ? ' ' : shown}\``;
}

/** A line of text of others inside a fence, which it cannot end; also where a reader does not know fences it is no HTML. */
export function fenced(text: string): string {
  return visible(text).replaceAll('`', 'ˋ').replaceAll('<', '‹').replaceAll('>', '›');
}

/** Text of others in an HTML element of a Markdown text, where some readers look for mark-up and mentions and others do not. */
export function inElement(text: string): string {
  return visible(text)
    .replace(/[#~!$%@^&](?=\w)|:(?=\/\/)|(?<=www)\./gi, '$&\u200b')
    .replace(/[^\p{L}\p{N} .,:/\u200b-]/gu, (char) => `&#${char.codePointAt(0)};`);
}

/** Text of others in HTML or SVG. */
export function markup(text: string): string {
  return visible(text).replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
