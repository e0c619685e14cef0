import { textAt } from '@berth/embedded-hub/json/json-value';
import { PipelineStore } from '../../../../packages/embedded-hub/test/write/pipeline-store.ts';
import type { FuzzTarget } from '../fuzz-target.ts';
import { bytesOf, outcomeOf } from '../fuzz-target.ts';
import { GOOD_OBJECTS } from './good-objects.ts';

/** How a body is sent. The first two bytes of an input choose the object and the way, the rest is the body. */
const WAYS = [
  { method: 'POST', type: 'application/json' },
  { method: 'PUT', type: 'application/json' },
  { method: 'PATCH', type: 'application/merge-patch+json' },
  { method: 'PATCH', type: 'application/strategic-merge-patch+json' },
  { method: 'PATCH', type: 'application/json-patch+json' },
  { method: 'PATCH', type: 'application/apply-patch+yaml' },
  { method: 'POST', type: 'application/yaml' },
] as const;

const JSON_PATCH = [
  { op: 'copy', from: '/metadata', path: '/metadata/annotations/x' },
  { op: 'add', path: '/metadata/labels/-', value: 'x' },
  { op: 'test', path: '/metadata/name', value: 'one' },
  { op: 'move', from: '/metadata/labels/a', path: '/metadata/labels/b' },
  { op: 'remove', path: '/metadata/annotations' },
  { op: 'replace', path: '/metadata/labels', value: { c: 'd' } },
];

const WORDS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  '$patch',
  '$retainKeys',
  '$setElementOrder/ports',
  '$deleteFromPrimitiveList/finalizers',
  'managedFields',
  'fieldsV1',
  'f:spec',
  'k:{"name":"a"}',
  'v:1',
  'ownerReferences',
  'finalizers',
  'generateName',
  'deletionTimestamp',
  'resourceVersion',
  'default',
  'pattern',
  '(a+)+$',
  'x-kubernetes-validations',
  'rule',
  'self.all(x, self.all(y, x == y))',
  'oneOf',
  'anyOf',
  '$ref',
  'items',
  'additionalProperties',
  'null',
  'true',
  '{}',
  '[]',
  '{"a":',
  '[',
  ']',
  '}',
  ',',
  ':',
  '"',
  '\\u0000',
  '\\ud800',
  '\u202e',
  '~1',
  '~0',
  '/metadata',
  '"op":"copy"',
  '&a ',
  '*a',
  '<<: ',
  '- ',
  ': ',
];

const store = new PipelineStore();
for (const { path, object } of GOOD_OBJECTS) {
  const { status, body } = store.send('POST', path, object);
  if (status !== 201)
    throw new Error(`the hub refused a good ${String(object['kind'])}: ${JSON.stringify(body)}`);
}
const stored = new Map(store.objects);

/** Every write that the hub takes, on every family of kinds, against an object that is there. */
export const hubBodies: FuzzTarget = {
  seeds: GOOD_OBJECTS.flatMap(({ object }, at) =>
    WAYS.map(({ type }, way) => {
      const body = type === 'application/json-patch+json' ? JSON_PATCH : object;
      return Uint8Array.from([at, way, ...bytesOf(JSON.stringify(body))]);
    }),
  ),
  dictionary: WORDS,
  run(input) {
    const { path, object } = GOOD_OBJECTS[(input[0] ?? 0) % GOOD_OBJECTS.length] ?? GOOD_OBJECTS[0]!;
    const choice = input[1] ?? 0;
    const { method, type } = WAYS[choice % WAYS.length] ?? WAYS[0];
    const status = choice >= 0xc0 && method !== 'POST' ? '/status' : '';
    const target = method === 'POST' ? path : `${path}/${object.metadata.name}${status}`;
    const query = `?fieldManager=fuzz&force=${String((choice & 0x10) > 0)}&fieldValidation=${(choice & 0x20) > 0 ? 'Strict' : 'Warn'}`;
    store.reset(stored);
    const answer = store.send(method, `${target}${query}`, input.subarray(2), type);
    // An API server says so of a configuration that does not fit the schema.
    const isMismatch = answer.status === 500 && answer.body['reason'] === undefined;
    if (answer.status >= 500 && !isMismatch) throw new Error(`the hub answered ${answer.status}`);
    if (Object.keys(Object.prototype).length > 0) throw new Error('the prototype of all objects was changed');
    return outcomeOf(`${method} ${type} ${answer.status}`, textAt(answer.body, 'message'));
  },
};
