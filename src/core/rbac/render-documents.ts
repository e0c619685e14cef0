/** YAML documents, each given as its lines, as one text. */
export function renderDocuments(documents: readonly (readonly string[])[]): string {
  return `${documents.map((lines) => lines.join('\n')).join('\n---\n')}\n`;
}
