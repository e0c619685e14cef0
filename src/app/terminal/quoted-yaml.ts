import { Document, visit } from 'yaml';
import { printableText } from '@berth/runtime/text/printable';

/**
 * YAML in which every string with control characters is in double quotes, the only style with
 * escapes. js-yaml, which renders all other documents, does not escape controls of bidirectional
 * text.
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
