import { beforeEach, describe, expect, it } from 'vitest';
import { type MemberHeads, readMembers } from '../../../src/controllers/previews/members/read-members.ts';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import {
  APPLY_SET_PART_OF_LABEL,
  applySetId,
  memberHead,
  parentOfSource,
} from '../../../src/core/sync/apply-set.ts';
import { sha256 } from '@berth/runtime/sha256';
import { FakeKubeApi } from '@berth/test-kit/fake-kube-api';

const SET = applySetId(sha256, parentOfSource('fleet'));
const settings = (name: string, set = SET): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'team', labels: { [APPLY_SET_PART_OF_LABEL]: set } },
  data: { text: name },
});

describe('the members of a source', () => {
  let hub: FakeKubeApi;
  beforeEach(async () => {
    hub = new FakeKubeApi();
    hub.addKind(CONFIG_MAP);
    for (const name of ['a', 'b']) await hub.create(CONFIG_MAP, settings(name));
    await hub.create(CONFIG_MAP, settings('c', 'applyset-of-another'));
    hub.requests.length = 0;
  });

  const heads = (): readonly KubeObject[] => hub.peek(CONFIG_MAP).map(memberHead);
  const read = (headsOf: MemberHeads | undefined, ...enough: readonly string[]) =>
    readMembers(hub, {
      ...{ source: 'fleet', objects: [settings('a')], headsOf },
      isHeadEnough: ({ metadata }) => enough.includes(metadata.name),
    });
  const lists = () => hub.requests.filter((line) => line.startsWith('LIST'));

  it('are listed where nothing is known of them', async () => {
    const listed = await read(undefined, 'a', 'b');
    expect([...listed.own.values()]).toEqual(hub.peek(CONFIG_MAP).slice(0, 2));
    expect(await read(async () => undefined, 'a', 'b')).toEqual(listed);
    expect(lists()).toEqual(['LIST configmaps', 'LIST configmaps']);
  });

  it('are not listed where heads are known, and have the same identities', async () => {
    const known = await read(async () => heads(), 'a', 'b');
    expect(lists()).toEqual([]);
    const listed = await read(undefined);
    expect([...known.own.keys()]).toEqual([...listed.own.keys()]);
    expect(known.others).toEqual(listed.others);
    expect(known.others.size).toBe(1);
  });

  it('are read completely where a head is not enough', async () => {
    const { own } = await read(async () => heads(), 'a');
    expect([...own.values()].map((object) => object['data'])).toEqual([undefined, { text: 'b' }]);
    expect(lists()).toEqual(['LIST configmaps metadata.name=b']);
  });

  it('are none that is gone by then', async () => {
    const before = heads();
    await hub.delete(CONFIG_MAP, { namespace: 'team', name: 'b' });
    const { own } = await read(async () => before, 'a');
    expect([...own.values()].map(({ metadata }) => metadata.name)).toEqual(['a']);
  });

  it('are listed where many must be read completely', async () => {
    for (let at = 0; at < 21; at++) await hub.create(CONFIG_MAP, settings(`many-${at}`));
    const { own } = await read(async () => heads(), 'a', 'b');
    expect([...own.values()].every((object) => object['data'] !== undefined)).toBe(true);
    expect(lists()).toEqual(['LIST configmaps']);
  });
});
