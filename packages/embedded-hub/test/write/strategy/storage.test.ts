import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../../src/json/json-value.ts';
import { createScheme } from '../../../src/scheme/create-scheme.ts';
import type { ResourceRef } from '../../../src/schema/resource-definition.ts';
import { startDeletion } from '../../../src/rest/object-deleter.ts';

const scheme = createScheme();

describe('claims and volumes that are deleted', () => {
  it.each([
    { plural: 'persistentvolumeclaims', finalizers: ['kubernetes.io/pvc-protection'], left: undefined },
    { plural: 'persistentvolumes', finalizers: ['kubernetes.io/pv-protection'], left: undefined },
    {
      plural: 'persistentvolumeclaims',
      finalizers: ['kubernetes.io/pvc-protection', 'example.com/mine'],
      left: ['example.com/mine'],
    },
  ])('$plural wait for $left alone', ({ plural, finalizers, left }) => {
    const ref = scheme.resource('', 'v1', plural) as ResourceRef;
    const live: JsonObject = { metadata: { name: 'a', finalizers } };
    const { metadata } = startDeletion(ref, live, { now: '2026-01-01T00:00:00Z' });
    expect((metadata as JsonObject)['finalizers']).toEqual(left);
  });
});
