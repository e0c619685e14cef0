import { yamlAsJson } from './functions/codec/decode-yaml.ts';
import { TemplateError, TemplateRefusal } from './values.ts';
import { decode, encode } from './text/bytes.ts';
import { GoError, Refusal } from './value/go-error.ts';
import { beginWork } from './value/work.ts';

const PREFIX = 'error converting YAML to JSON: ';

/**
 * The first document of a YAML text as JSON, as sigs.k8s.io/yaml makes it: with the booleans of
 * YAML 1.1, and with keys as texts.
 * @throws TemplateError with the text of Go: `yaml: line 2: …`
 * @throws TemplateRefusal for what is too large or too deep for Berth
 */
export function yamlToJson(text: string): string {
  beginWork();
  try {
    return decode(yamlAsJson(encode(text)));
  } catch (error) {
    if (!(error instanceof GoError)) throw error;
    const message = decode(error.message);
    if (error instanceof Refusal) throw new TemplateRefusal(message);
    throw new TemplateError(message.startsWith(PREFIX) ? message.slice(PREFIX.length) : message);
  }
}
