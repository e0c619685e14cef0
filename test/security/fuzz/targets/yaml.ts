import { readdirSync, readFileSync } from 'node:fs';
import { readContent } from '../../../../src/controllers/sources/manifests/read-content.ts';
import { decodeBody } from '../../../../packages/embedded-hub/src/body/decode-body.ts';
import { StatusError } from '@berth/embedded-hub/wire/status-error';
import type { FuzzTarget } from '../fuzz-target.ts';
import { bytesOf, outcomeOf } from '../fuzz-target.ts';

const examples = new URL('../../../../examples/', import.meta.url);
const manifests = readdirSync(examples, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.yaml'))
  .sort()
  .map((file) => readFileSync(new URL(file, examples)));

const ODD = [
  'a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n',
  '- !!binary aGVsbG8=\n- !!set {a, b}\n- 0o17\n- 1_000\n- .inf\n- 2026-01-01\n',
  'a: |2-\n   x\nb: >+\n  y\n\nc: "\\u202e\\x00\\\n  z"\n',
  '%YAML 1.1\n---\n? {a: b}\n: - c\n...\n---\n# nothing\n',
  '<<: {a: 1}\na: 2\n<<: [{b: 1}]\n',
].map(bytesOf);

/** What a repository's file and a YAML body of the hub are read by. */
export const yaml: FuzzTarget = {
  seeds: [...manifests, ...ODD],
  dictionary: [
    '---\n',
    '...\n',
    '&a ',
    '*a',
    '<<: ',
    '!!binary ',
    '!!float ',
    '!<tag:yaml.org,2002:map> ',
    '? ',
    '- ',
    ': ',
    '|\n',
    '>-\n',
    '|9+\n',
    '#',
    '%TAG ! x\n',
    '{',
    '}',
    '[',
    ']',
    ',',
    '"',
    "'",
    '\\x',
    '\\U0010ffff',
    '\t',
    '\r',
    '\u0085',
    '\u2028',
    '\ufeff',
    '  ',
    '~',
    'null',
    'yes',
    '0x',
    '.nan',
    '-.inf',
    '__proto__: ',
    'apiVersion: v1\n',
    'kind: List\nitems:\n',
    'kind: Placement\n',
    'metadata:\n  name: a\n',
    'spec:\n',
  ],
  run(input) {
    const { manifests: read, problems } = readContent('fuzz.yaml', Buffer.from(input));
    for (const { location, message } of problems) {
      if (!((location?.line ?? 1) >= 1)) throw new Error(`a problem has no line: ${message}`);
    }
    const first = problems[0];
    const file = first === undefined ? `${read.length} manifests` : outcomeOf(first.code, first.message);
    return `${file} / ${bodyOutcome(input)}`;
  },
};

function bodyOutcome(input: Uint8Array): string {
  try {
    const { value } = decodeBody(input, 'application/yaml');
    JSON.stringify(value);
    return Array.isArray(value) ? 'list' : typeof value;
  } catch (error) {
    if (error instanceof StatusError && error.httpCode < 500)
      return outcomeOf(error.httpCode, error.statusMessage);
    throw error;
  }
}
