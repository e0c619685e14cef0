import { expect, it } from 'vitest';
import { DeletedBeforeRestore } from '../../../../src/controllers/sources/pruning/deleted-before-restore.ts';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { objectIdentity, refOf } from '@berth/kube/model/object-ref';

const object = (name: string, uid = `uid-${name}`): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'team-a', name, uid },
});
const [gone, declared, other, made] = [
  object('gone'),
  object('declared'),
  object('other'),
  object('gone', 'new'),
];
const members = [gone, declared, other, made] as readonly KubeObject[];
const wanted = () => new Set([objectIdentity(refOf(declared))]);
const recorded = async () => ['uid-gone', 'uid-declared'];

it('knows what a backup brought back: by its uid, and not what Git declares again', async () => {
  const deleted = new DeletedBeforeRestore(recorded);
  expect(await deleted.among(members, wanted)).toEqual([]);
  deleted.hubRestored();
  expect(await deleted.among(members, wanted)).toEqual([gone]);
  // It stays so until it is deleted, and what Git has declared once leaves Git as any other object.
  expect(await deleted.among(members, () => new Set())).toEqual([gone]);
  deleted.forget(gone);
  expect(await deleted.among(members, () => new Set())).toEqual([]);
});

it('reads the records of each restore', async () => {
  let uids: readonly string[] = [];
  const deleted = new DeletedBeforeRestore(async () => uids);
  deleted.hubRestored();
  expect(await deleted.among(members, wanted)).toEqual([]);
  uids = ['uid-gone'];
  expect(await deleted.among(members, wanted)).toEqual([]);
  deleted.hubRestored();
  expect(await deleted.among(members, wanted)).toEqual([gone]);
});
