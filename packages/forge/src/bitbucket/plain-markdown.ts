/**
 * Bitbucket shows HTML in comments as text. This converts the few elements that the comment of a preview uses to
 * Markdown. Folded sections become open ones, and the marker becomes a link definition at the end, which is not
 * displayed. Converting twice changes nothing.
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

/** The text that finds a marker of an HTML comment, or a part of one, in the converted comment. */
export function plainMarkerOf(marker: string): string {
  const [, name] = /^<!-- ([^\n]+) -->$/.exec(marker) ?? [];
  return name === undefined ? marker : plainMarker(name);
}

function plainMarker(name: string): string {
  return `[//]: # (${name})`;
}
