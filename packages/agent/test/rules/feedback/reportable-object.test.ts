import { describe, expect, it } from 'vitest';
import { reportableObject } from '../../../src/rules/feedback/feedback.ts';

const SECRETS = { group: '', plural: 'secrets' };
const secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'd', labels: { a: 'b' }, annotations: { copy: 'cGFzcw==' } },
  type: 'Opaque',
  immutable: true,
  data: { password: 'cGFzcw==' },
  stringData: { password: 'pass' },
};
const shown = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 's', namespace: 'd', labels: { a: 'b' } },
  type: 'Opaque',
  immutable: true,
};

describe('what is reported of an object', () => {
  it.each([
    { name: 'a Secret, by its kind', object: secret, kind: { group: '', plural: 'other' }, want: shown },
    {
      name: 'a Secret, by where it was read',
      object: { ...secret, kind: 'ConfigMap' },
      kind: SECRETS,
      want: { ...shown, kind: 'ConfigMap' },
    },
    {
      name: 'a Secret with unknown fields',
      object: { ...secret, payload: 'x', metadata: { ...secret.metadata, managedFields: [] } },
      kind: SECRETS,
      want: shown,
    },
  ])('$name: nothing of its data', ({ object, kind, want }) => {
    expect(reportableObject(object, kind)).toMatchObject({
      object: want,
      withheld: 'the data and the annotations of a Secret are not reported',
    });
    expect(reportableObject(object, kind).object).toEqual(want);
  });

  it.each([
    { ...secret, kind: 'ConfigMap' },
    { ...secret, apiVersion: 'example.com/v1' },
  ])('another kind: all of it', (object) => {
    const kind = { group: object.apiVersion === 'v1' ? '' : 'example.com', plural: 'configmaps' };
    expect(reportableObject(object, kind)).toEqual({ object, withheld: undefined });
  });

  it('of a Secret in a manifest of a work, or deeper: nothing of its data, nor of the copies in annotations', () => {
    const work = (manifest: object, annotations?: object) => ({
      apiVersion: 'work.open-cluster-management.io/v1',
      kind: 'ManifestWork',
      metadata: { name: 'w', ...(annotations === undefined ? {} : { annotations }) },
      spec: { workload: { manifests: [{ apiVersion: 'v1', kind: 'List', items: [manifest] }] } },
    });
    const kind = { group: 'work.open-cluster-management.io', plural: 'manifestworks' };
    const { object, withheld } = reportableObject(work(secret, { copy: 'cGFzcw==' }) as never, kind);
    expect(object).toEqual(work(shown));
    expect(withheld).toBeUndefined();
  });

  it.each([
    {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'e' },
      involvedObject: { apiVersion: 'v1', kind: 'Secret', name: 's' },
    },
    {
      apiVersion: 'x/v1',
      kind: 'Widget',
      metadata: { name: 'w', annotations: { a: 'b' } },
      spec: { data: [1, null] },
    },
  ])('$kind: all of it, a reference to a Secret included', (object) => {
    expect(reportableObject(object as never, { group: '', plural: 'events' }).object).toBe(object);
  });
});
