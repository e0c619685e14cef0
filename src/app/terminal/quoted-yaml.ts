import { Document, visit } from 'yaml';
import { printableText } from '../../core/model/printable.ts';

/**
 * YAML in which every text with terminal control characters is in double quotes, the only style with escapes. js-yaml,
 * which writes all other documents, treats the control characters of bidirectional text as printable and does not
 * escape them.
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
