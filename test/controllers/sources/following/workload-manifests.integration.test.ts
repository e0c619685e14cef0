import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_MAP, MANIFEST_WORK, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { baseFiles, namespace, yaml } from '../../../app/serve/fleet-fixture.ts';
import { ServedFleet } from '../../../app/serve/served-fleet.ts';

const work = (folder: string): KubeObject => ({
  apiVersion: 'work.open-cluster-management.io/v1',
  kind: 'ManifestWork',
  metadata: { name: 'shop', namespace: 'c1', annotations: { 'berth.dev/manifests': folder } },
  spec: {},
});
const settings: KubeObject = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings', namespace: 'default' },
};

describe('the manifests of a work in Git', () => {
  let fleet: ServedFleet;
  beforeEach(async () => {
    fleet = await ServedFleet.create();
    fleet.git.commit({
      ...baseFiles,
      'work.yaml': yaml(work('apps/shop')),
      'apps/shop/settings.yaml': yaml(settings),
    });
  });
  afterEach(() => fleet.close());

  const onHub = () => fleet.hub.api.get(CONFIG_MAP, { namespace: 'default', name: 'settings' });
  const workOnHub = () => fleet.hub.api.get(MANIFEST_WORK, { namespace: 'c1', name: 'shop' });
  const isOnHub = (name: string) => fleet.hub.api.get(NAMESPACE, { namespace: '', name });

  it.each([
    { name: 'its work is deleted', files: { 'work.yaml': undefined }, isKept: false },
    { name: 'its work names another folder', files: { 'work.yaml': yaml(work('apps/shpo')) }, isKept: true },
  ])('do not go to the hub when $name', async ({ files, isKept }) => {
    await fleet.serve({ http: fleet.http(), sources: [{ url: fleet.git.path, kinds: [] }] });
    await fleet.until(workOnHub);
    fleet.git.commit({ ...files, 'after.yaml': yaml(namespace('after')) });
    await fleet.until(() => isOnHub('after'));
    if (isKept) expect(await workOnHub()).toBeDefined();
    else await fleet.until(async () => ((await workOnHub()) === undefined ? true : undefined));
    expect(await onHub()).toBeUndefined();
    const { code, stdout } = await fleet.status();
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /apps\/shop\/settings\.yaml.*is applied to a hub only by a source that lists the kind/,
    );
  });

  it('are applied where the source lists their kind', async () => {
    fleet.git.commit({ 'work.yaml': undefined });
    await fleet.serve({ sources: [{ url: fleet.git.path, kinds: ['/ConfigMap'] }] });
    expect(await fleet.until(onHub)).toBeDefined();
  });
});
