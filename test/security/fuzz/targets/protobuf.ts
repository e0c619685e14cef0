import { readFileSync } from 'node:fs';
import { textAt } from '@berth/embedded-hub/json/json-value';
import { decodeProtobuf } from '../../../../packages/embedded-hub/src/proto/decode-protobuf.ts';
import { StatusError } from '@berth/embedded-hub/wire/status-error';
import type { FuzzTarget } from '../fuzz-target.ts';
import { outcomeOf } from '../fuzz-target.ts';

/** Bodies as kubectl and client-go sent them. */
const recorded = readFileSync(
  new URL('../../../../packages/embedded-hub/test/proto/kubectl-bodies.jsonl', import.meta.url),
  'utf8',
)
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => Buffer.from((JSON.parse(line) as { readonly base64: string }).base64, 'base64'));

/** A text of protobuf may grow by base64 and by its names, not without bound. */
const MOST_GROWTH = 400;

export const protobuf: FuzzTarget = {
  seeds: recorded,
  dictionary: [
    'k8s\0',
    'v1',
    'ConfigMap',
    'DeleteOptions',
    'Deployment',
    'apps/v1',
    '__proto__',
    '\xff\xff\xff\xff\x0f',
    '\n\0',
    '\x12\xff\x7f',
  ],
  run(input) {
    try {
      const object = decodeProtobuf(input);
      const text = JSON.stringify(object);
      if (text.length > 10_000 + input.length * MOST_GROWTH)
        throw new Error(`${input.length} bytes became ${text.length} characters of JSON`);
      return `ok ${textAt(object, 'kind')} ${Object.keys(object).sort().join(' ')}`.slice(0, 80);
    } catch (error) {
      if (error instanceof StatusError && error.httpCode === 400) return outcomeOf(400, error.statusMessage);
      throw error;
    }
  },
};
