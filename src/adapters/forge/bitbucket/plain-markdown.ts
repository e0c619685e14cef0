/**
 * Bitbucket shows HTML in comments as text. The few elements that a preview's comment has become Markdown: folded sections open
 * ones, and the marker a link definition at the end, which is not shown. Doing it again changes nothing.
 */
export function plainMarkdown(text: string): string {
  const [, marker, rest = ''] = /^<!-- ([^\n]+) -->\n([^]*)$/.exec(text) ?? [undefined, undefined, text];
  const body = rest
    .replace(/^<details><summary>(.*)<\/summary>$/gm, '**$1**')
    .replace(/^<\/details>$/gm, '')
    .replace(/^<sub>(.*)<\/sub>$/gm, '$1')
    .replace(/\n{3,}/g, '\n\n');
  return marker === undefined ? body : `${body.trimEnd()}\n\n${plainMarker(marker)}\n`;
}

/** What a marker in an HTML comment, or a part of one, is found by. */
export function plainMarkerOf(marker: string): string {
  const [, name] = /^<!-- ([^\n]+) -->$/.exec(marker) ?? [];
  return name === undefined ? marker : plainMarker(name);
}

function plainMarker(name: string): string {
  return `[//]: # (${name})`;
}
