import { beforeEach, describe, expect, it } from 'vitest';
import { DeclaredPlacements } from '../../../../src/controllers/sources/progress/source-declarations.ts';
import type { SourceContent } from '../../../../src/controllers/sources/manifests/source-content.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { placement } from '../../../app/serve/fleet-fixture.ts';

describe('DeclaredPlacements', () => {
  let declared: DeclaredPlacements;
  let told: string[];
  beforeEach(() => {
    [declared, told] = [new DeclaredPlacements(['fleet', 'apps']), []];
    declared.onChange((key) => void told.push(key));
  });
  const read = (source: string, names: readonly string[], complete = true) => {
    const objects = names.map((name) => ({ object: placement(name) }));
    const content = { objects, complete } as unknown as SourceContent;
    declared.handle({ kind: 'read', source, content });
  };
  const deleted = (name: string) =>
    declared.handle({ kind: 'deleted', source: 'apps', object: placement(name) as unknown as KubeObject });

  it('misses none before every source was read wholly', () => {
    read('apps', ['web']);
    expect(declared.isMissing('team-a/api')).toBe(false);
    read('fleet', [], false);
    expect(declared.isMissing('team-a/api')).toBe(false);
    read('fleet', []);
    expect([declared.isMissing('team-a/api'), declared.isMissing('team-a/web')]).toEqual([true, false]);
    expect(told).toEqual(['team-a/web']);
  });

  it('keeps what a source declared before one of its files was broken', () => {
    read('fleet', []);
    read('apps', ['web', 'api']);
    read('apps', ['web'], false);
    expect([declared.has('team-a/api'), declared.isMissing('team-a/api')]).toEqual([true, false]);
  });

  it('misses what a source deleted, also while another one has a broken file, until it is declared again', () => {
    read('apps', ['api']);
    read('fleet', []);
    read('fleet', [], false);
    read('apps', []);
    expect(declared.isMissing('team-a/api')).toBe(false);
    deleted('api');
    expect([declared.isMissing('team-a/api'), declared.has('team-a/api')]).toEqual([true, false]);
    read('apps', ['api']);
    expect(declared.isMissing('team-a/api')).toBe(false);
    expect(told).toEqual(['team-a/api', 'team-a/api', 'team-a/api', 'team-a/api']);
  });
});
