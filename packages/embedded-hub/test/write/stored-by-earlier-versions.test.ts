import { describe, expect, it } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/json/json-value.ts';
import { OCM_HUB_KINDS } from '@berth/ocm/definition/ocm-crds';
import { createScheme } from '../../src/scheme/create-scheme.ts';
import type { ResourceRef } from '../../src/schema/resource-definition.ts';
import { preparePatch } from '../../src/write/prepare-patch.ts';

const scheme = createScheme(OCM_HUB_KINDS);
const METADATA = { name: 'a', namespace: 'b', uid: 'u', resourceVersion: '1', generation: 1 };

interface Kind {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
}
const POD: Kind = { group: '', version: 'v1', plural: 'pods' };
const JOB: Kind = { group: 'batch', version: 'v1', plural: 'jobs' };
const SERVICE: Kind = { group: '', version: 'v1', plural: 'services' };

function patched({ group, version, plural }: Kind, stored: JsonObject, patch: JsonValue): JsonObject {
  const ref = scheme.resource(group, version, plural) as ResourceRef;
  const request = {
    ref,
    subresource: '',
    namespace: 'b',
    name: 'a',
    fieldManager: 'm',
    fieldValidation: 'Strict',
    now: '2026-01-01T00:00:00Z',
    identity: undefined,
    user: { name: 'ann', groups: [] },
    admission: [],
    can: () => true,
  } as const;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const live = { apiVersion, kind: ref.definition.kind, metadata: METADATA, ...stored };
  return preparePatch(request, live, 'merge', { value: patch, strictErrors: [] }).object;
}

const LABEL = { metadata: { labels: { new: 'label' } } };
const CONTAINER = {
  name: 'c',
  image: 'i',
  resources: { limits: { cpu: '1' } },
  volumeMounts: [{ name: 'v', mountPath: '/v' }],
};
const POD_SPEC = { containers: [CONTAINER], volumes: [{ name: 'v' }], restartPolicy: 'Never' };

describe('an object that an earlier version stored', () => {
  it.each<{ name: string; kind: Kind; stored: JsonObject }>([
    { name: 'a Pod without defaults', kind: POD, stored: { spec: POD_SPEC } },
    {
      name: 'a Job with two generated labels',
      kind: JOB,
      stored: {
        spec: {
          selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': 'u' } },
          template: {
            metadata: {
              labels: { 'batch.kubernetes.io/controller-uid': 'u', 'batch.kubernetes.io/job-name': 'a' },
            },
            spec: POD_SPEC,
          },
        },
      },
    },
    {
      name: 'a Service with a port that is not valid',
      kind: SERVICE,
      stored: { spec: { type: 'ClusterIP', ports: [{ port: 70_000 }] } },
    },
    {
      name: 'a Service with one form of its address',
      kind: SERVICE,
      stored: { spec: { type: 'ClusterIP', clusterIP: 'None', ports: [{ port: 80 }] } },
    },
  ])('takes another label: $name', ({ kind, stored }) => {
    expect(patched(kind, stored, LABEL)['metadata']).toMatchObject({ labels: { new: 'label' } });
  });

  it('still may not change what may not change', () => {
    const spec = { containers: [{ ...CONTAINER, name: 'other' }] };
    expect(() => patched(POD, { spec: POD_SPEC }, { spec })).toThrow(/pod updates may not change fields/);
  });

  it('may not become more wrong', () => {
    const stored = { spec: { type: 'ClusterIP', ports: [{ port: 70_000 }] } };
    const patch = { spec: { ports: [{ port: 70_000 }, { port: 80_000, name: 'b' }] } };
    expect(() => patched(SERVICE, stored, patch)).toThrow(/spec\.ports\[1\]\.port/);
  });
});
