import { Document, visit } from 'yaml';
import { printableText } from '../../core/model/printable.ts';

/**
 * YAML in which every text that a terminal would obey is in double quotes, the only style that has escapes. js-yaml, which
 * writes all other documents, takes the controls of bidirectional text for printable and leaves them as they are.
 */
export function quotedYaml(value: unknown): string {
  const document = new Document(JSON.parse(JSON.stringify(value)), { aliasDuplicateObjects: false });
  visit(document, {
    Scalar: (_key, node) => {
      if (typeof node.value === 'string' && printableText(node.value) !== node.value)
        node.type = 'QUOTE_DOUBLE';
    },
  });
  return printableText(document.toString({ lineWidth: 0 }));
}
