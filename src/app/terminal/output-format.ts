import { Option } from 'commander';
import { printableText } from '../../core/model/printable.ts';

/** The formats of every command that prints objects. */
export type OutputFormat = 'table' | 'json' | 'yaml';

/** `-o, --output`. The default is `table`, which is for people. A command may offer further formats, such as `markdown`. */
export function outputOption(...more: readonly string[]): Option {
  return new Option('-o, --output <format>', 'output format')
    .choices(['table', ...more, 'json', 'yaml'])
    .default('table');
}

/**
 * Renders one document with a line break at the end, safe to show in a terminal. Undefined keys are left out. The YAML
 * library is loaded only if needed.
 */
export async function renderDocument(value: unknown, format: 'json' | 'yaml'): Promise<string> {
  if (format === 'json') return printableText(`${JSON.stringify(value, undefined, 2)}\n`);
  const { default: yaml } = await import('js-yaml');
  const text = yaml.dump(value, { skipInvalid: true, lineWidth: -1, noRefs: true });
  if (printableText(text) === text) return text;
  const { quotedYaml } = await import('./quoted-yaml.ts');
  return quotedYaml(value);
}
