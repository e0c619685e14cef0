import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { manifestSizeBytes } from '@berth/ocm/kind/manifest-config';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { type Place, placeManifests } from '../../../src/rules/deployment/place-manifests.ts';

/** A work takes 400 KiB. */
const FULL_KIB = 400;

function manifest(name: string, kib = 1, version = 'v1'): KubeObject {
  const data = { text: 'x'.repeat(kib * 1024) };
  return { apiVersion: version, kind: 'ConfigMap', metadata: { name, namespace: 'agent' }, data };
}

function workOf({ name, manifests }: Place, isGoing = false): ManifestWork {
  const metadata = { name, ...(isGoing ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {}) };
  return { apiVersion: '', kind: 'ManifestWork', metadata, spec: { workload: { manifests } } };
}

function place(manifests: readonly KubeObject[], works: readonly ManifestWork[] = []): readonly Place[] {
  return placeManifests(manifests, works, (index) => `w-${index}`);
}

function names(places: readonly Place[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    places.map((one) => [one.name, one.manifests.map(({ metadata }) => metadata.name)]),
  );
}

describe('the works of an add-on', () => {
  it('is one while all fits, in the order of the template', () => {
    expect(names(place([manifest('b'), manifest('a', 2), manifest('c')]))).toEqual({
      'w-0': ['b', 'a', 'c'],
    });
    expect(names(place([]))).toEqual({});
  });

  it('are several when it does not fit, largest first', () => {
    const places = place([manifest('a', 150), manifest('b', 300), manifest('c', 200)]);
    expect(names(places)).toEqual({ 'w-0': ['b'], 'w-1': ['a', 'c'] });
  });

  it('take one that is too large for any work alone', () => {
    expect(names(place([manifest('a', 450), manifest('b')]))).toEqual({ 'w-0': ['a'], 'w-1': ['b'] });
  });

  it('keep what they have, and the new goes where most space is', () => {
    const works = place([manifest('a', 300), manifest('b', 200)]).map((one) => workOf(one));
    const places = place([manifest('new', 50), manifest('b', 210), manifest('a', 310)], works);
    expect(names(places)).toEqual({ 'w-0': ['a'], 'w-1': ['b', 'new'] });
    expect(places.map(({ current }) => current)).toEqual(works);
  });

  it('keep one that grows beyond the limit', () => {
    const works = [workOf({ name: 'w-0', current: undefined, manifests: [manifest('a'), manifest('b')] })];
    const places = place([manifest('a', 390), manifest('b', 60), manifest('c')], works);
    expect(names(places)).toEqual({ 'w-0': ['a', 'b'], 'w-1': ['c'] });
  });

  it('are empty when all that they had is gone', () => {
    const works = place([manifest('a', 300), manifest('b', 200)]).map((one) => workOf(one));
    expect(names(place([manifest('b', 200)], works))).toEqual({ 'w-0': [], 'w-1': ['b'] });
  });

  it('keep their names, which a new one never takes; it has the first that is free', () => {
    const kept = { name: 'w-1', current: undefined, manifests: [manifest('a', 390)] };
    const old = { name: 'addon-web-deploy', current: undefined, manifests: [manifest('b', 390)] };
    expect(names(place([manifest('a', 390), manifest('c', 390)], [workOf(kept)]))).toEqual({
      ...{ 'w-1': ['a'], 'w-0': ['c'] },
    });
    expect(names(place([manifest('b', 390)], [workOf(old)]))).toEqual({ 'addon-web-deploy': ['b'] });
  });

  it('take nothing new while they are being deleted', () => {
    const going = workOf({ name: 'w-0', current: undefined, manifests: [manifest('a')] }, true);
    expect(names(place([manifest('a'), manifest('b')], [going]))).toEqual({ 'w-0': ['a'], 'w-1': ['b'] });
  });

  it('have one place for an object, whose last manifest counts, in whatever version', () => {
    const works = ['w-0', 'w-1'].map((name) =>
      workOf({ name, current: undefined, manifests: [manifest('a', 1, 'v1beta1')] }),
    );
    const places = place([manifest('a', 1), manifest('a', 2)], works);
    expect(names(places)).toEqual({ 'w-0': ['a'], 'w-1': [] });
    expect(places[0]?.manifests).toEqual([manifest('a', 2)]);
  });

  it('hold everything once, and are the same when they are asked again', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 450 }), { maxLength: 12 });
    fc.assert(
      fc.property(sizes, sizes, (first, second) => {
        const of = (list: readonly number[]): readonly KubeObject[] =>
          list.map((kib, index) => manifest(`m${index}`, kib));
        const works = place(of(first)).map((one) => workOf(one));
        const places = place(of(second), works);
        const held = places.flatMap(({ manifests }) => manifests.map(({ metadata }) => metadata.name));
        expect(held.toSorted()).toEqual(
          of(second)
            .map(({ metadata }) => metadata.name)
            .toSorted(),
        );
        expect(new Set(places.map(({ name }) => name)).size).toBe(places.length);
        for (const { current, manifests } of places) {
          const bytes = manifests.reduce((sum, one) => sum + manifestSizeBytes(one), 0);
          if (current === undefined && manifests.length > 1) expect(bytes).toBeLessThan(FULL_KIB * 1024);
        }
        const again = places.filter(({ manifests }) => manifests.length > 0).map((one) => workOf(one));
        expect(names(place(of(second), again))).toEqual(names(again.map((work) => toPlace(work))));
      }),
      { numRuns: 40 },
    );
  });
});

function toPlace(work: ManifestWork): Place {
  return { name: work.metadata.name, current: work, manifests: work.spec?.workload?.manifests ?? [] };
}
