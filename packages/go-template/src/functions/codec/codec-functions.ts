import { GoError, Refusal } from '../../value/go-error.ts';
import { func, type FuncMap } from '../../value/go-func.ts';
import { MAP } from '../../value/go-map.ts';
import { type Any, INTERFACE, LIST, STRING } from '../../value/go-type.ts';
import { decodeBase32, decodeBase64, encodeBase32, encodeBase64 } from './base-encodings.ts';
import { decodeJson } from './decode-json.ts';
import { decodeYamlList, decodeYamlMap } from './decode-yaml.ts';
import { encodeJson } from './encode-json.ts';
import { encodeYaml } from './encode-yaml.ts';

/** The result of the function, or the other value if Go has an error that sprig drops. */
function ifNoError<T>(value: () => T, other: T): T {
  try {
    return value();
  } catch (error) {
    if (error instanceof GoError && !(error instanceof Refusal)) return other;
    throw error;
  }
}

const STYLES = {
  Json: { escapeHtml: true, indented: false },
  PrettyJson: { escapeHtml: true, indented: true },
  RawJson: { escapeHtml: false, indented: false },
};

/** sprig's functions for JSON and encodings (defaults.go, strings.go), and Argo CD's for YAML. */
export const CODEC_FUNCTIONS: FuncMap = new Map([
  ['fromJson', func([STRING], INTERFACE, (text): Any => ifNoError(() => decodeJson(text), null))],
  ['mustFromJson', func([STRING], INTERFACE, (text) => decodeJson(text))],
  ['toJson', func([INTERFACE], STRING, (value) => ifNoError(() => encodeJson(value, STYLES.Json), ''))],
  [
    'toPrettyJson',
    func([INTERFACE], STRING, (value) => ifNoError(() => encodeJson(value, STYLES.PrettyJson), '')),
  ],
  ['toRawJson', func([INTERFACE], STRING, (value) => encodeJson(value, STYLES.RawJson))],
  ['mustToJson', func([INTERFACE], STRING, (value) => encodeJson(value, STYLES.Json))],
  ['mustToPrettyJson', func([INTERFACE], STRING, (value) => encodeJson(value, STYLES.PrettyJson))],
  ['mustToRawJson', func([INTERFACE], STRING, (value) => encodeJson(value, STYLES.RawJson))],
  ['toYaml', func([INTERFACE], STRING, encodeYaml)],
  ['fromYaml', func([STRING], MAP, decodeYamlMap)],
  ['fromYamlArray', func([STRING], LIST, decodeYamlList)],
  ['b64enc', func([STRING], STRING, encodeBase64)],
  ['b64dec', func([STRING], STRING, decodeBase64)],
  ['b32enc', func([STRING], STRING, encodeBase32)],
  ['b32dec', func([STRING], STRING, decodeBase32)],
]);
