import { describe, expect, it } from 'vitest';
import { decodeBody, type DecodedBody } from '../../src/body/decode-body.ts';
import { StatusError } from '../../src/wire/status-error.ts';

const decode = (text: string, type: string): DecodedBody =>
  decodeBody(new TextEncoder().encode(text), type, { kind: 'ConfigMap' });

function refusal(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof StatusError) return `${String(error.httpCode)} ${error.statusMessage}`;
    throw error;
  }
  return 'decoded';
}

const YAML = 'application/apply-patch+yaml';
const JSON_TYPE = 'application/json; charset=utf-8';

describe('decodeBody', () => {
  it.each<{ name: string; text: string; type: string; value: unknown; strict?: string[] }>([
    { name: 'JSON', text: '{"a":[1,{"b":null}]}', type: JSON_TYPE, value: { a: [1, { b: null }] } },
    { name: 'no type means JSON', text: '{"a":1}', type: '', value: { a: 1 } },
    { name: 'JSON sent as YAML', text: '{"a":1}', type: YAML, value: { a: 1 } },
    {
      name: 'YAML',
      text: 'a: yes\nb: "yes"\nc: 0x10\nd: ~\ne: 2026-01-01',
      type: YAML,
      value: { a: true, b: 'yes', c: 16, d: null, e: '2026-01-01' },
    },
    {
      name: 'YAML scalars as kubectl reads them',
      text: 'a: true\nb: False\nc: 017\nd: 0O17\ne: 1_000\nf: "true"\ng: !!int "5"\nh: +.5\ni:',
      type: YAML,
      value: { a: true, b: false, c: 15, d: 15, e: 1000, f: 'true', g: 5, h: 0.5, i: null },
    },
    {
      name: 'integers with more digits than a double holds, as in JSON',
      text: 'a: 9007199254740993\nb: -12345678901234567890',
      type: YAML,
      value: { a: 9007199254740992, b: -12345678901234567000 },
    },
    { name: 'YAML in flow style that is no JSON', text: '{a: 1}', type: YAML, value: { a: 1 } },
    {
      name: 'duplicates in JSON',
      text: '{"a":{"x":1,"x":2},"l":[{"y":1},{"y":1,"y":"\\"}"}]}',
      type: JSON_TYPE,
      value: { a: { x: 2 }, l: [{ y: 1 }, { y: '"}' }] },
      strict: ['duplicate field "a.x"', 'duplicate field "l[1].y"'],
    },
    {
      name: 'duplicates in YAML',
      text: 'a: 1\na: 2',
      type: YAML,
      value: { a: 2 },
      strict: ['duplicate key at line 2'],
    },
    {
      name: 'merge keys',
      text: 'b: &b {x: 1}\na:\n  <<: *b\n  z: 2',
      type: YAML,
      value: { b: { x: 1 }, a: { x: 1, z: 2 } },
    },
  ])('$name', ({ text, type, value, strict = [] }) => {
    expect(decode(text, type)).toEqual({ value, strictErrors: strict });
  });

  it.each<{ name: string; run: () => unknown; want: RegExp }>([
    {
      name: 'broken JSON',
      run: () => decode('{nope', JSON_TYPE),
      want: /^400 the object provided is unrecognized \(must be of type ConfigMap\): couldn't get version\/kind; json parse error:/,
    },
    {
      name: 'a YAML number that JSON does not have',
      run: () => decode('a: .inf', YAML),
      want: /^400 error decoding YAML: JSON has no such number$/,
    },
    { name: 'broken YAML', run: () => decode('a: [', YAML), want: /^400 error decoding YAML/ },
    { name: 'an unknown type', run: () => decode('{}', 'text/html'), want: /^415 .*application\/json/ },
    {
      name: 'bytes that are no text',
      run: () => decodeBody(Uint8Array.from([0x22, 0xff, 0x22]), JSON_TYPE),
      want: /^400 .*UTF-8/,
    },
    {
      name: 'endless nesting',
      run: () => decode(`${'['.repeat(5000)}${']'.repeat(5000)}`, JSON_TYPE),
      want: /^400 .*nested deeper/,
    },
    {
      name: 'an alias bomb',
      run: () =>
        decode(
          `a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n${Array.from({ length: 8 }, (_, i) => `a${String(i + 1)}: &a${String(i + 1)} [${Array.from({ length: 10 }, () => `*a${String(i)}`).join(',')}]`).join('\n')}`,
          YAML,
        ),
      want: /^400 .*unfolds/,
    },
    {
      name: 'no protobuf',
      run: () => decode('{}', 'application/vnd.kubernetes.protobuf'),
      want: /^400 .*6b 38 73 00/,
    },
  ])('refuses $name', ({ run, want }) => {
    expect(refusal(run)).toMatch(want);
  });
});
