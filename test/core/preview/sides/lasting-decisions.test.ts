import { expect, it } from 'vitest';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { PLACEMENT_LABEL } from '@berth/ocm/kind/placement-decision';
import type { Placement } from '@berth/ocm/kind/placement';
import type { Snapshot } from '@berth/placement/snapshot/snapshot';
import { lastingDecisions } from '../../../../src/core/preview/sides/overlay-snapshot.ts';

type Page = Snapshot['decisions'][number];
const page = (placement: string | undefined): Page =>
  ({
    metadata: {
      namespace: 'team-a',
      name: `${placement}-decision-1`,
      labels: placement === undefined ? {} : { [PLACEMENT_LABEL]: placement },
    },
  }) as unknown as Page;
const placement = (name: string): Placement =>
  ({ metadata: { namespace: 'team-a', name } }) as unknown as Placement;

const inGit = (name: string): { readonly object: KubeObject } => ({
  object: {
    apiVersion: 'cluster.open-cluster-management.io/v1beta1',
    kind: 'Placement',
    metadata: { namespace: 'team-a', name },
  },
});

it('leaves out the pages of a placement that does not exist, which the hub is about to delete', () => {
  const [web, gone, unnamed] = [page('web'), page('gone'), page(undefined)];
  const found = lastingDecisions([web, gone, unnamed], [placement('web')], [inGit('web')]);
  expect(found).toEqual({ lasting: [web, unnamed], kept: [] });
});

it('keeps the pages of a placement that Git declares apart from those that count', () => {
  const [web, deleted] = [page('web'), page('deleted')];
  const found = lastingDecisions([web, deleted], [placement('web')], [inGit('web'), inGit('deleted')]);
  expect(found).toEqual({ lasting: [web], kept: [deleted] });
});

it('gives back the same list if all pages stay', () => {
  const pages = [page('web')];
  expect(lastingDecisions(pages, [placement('api'), placement('web')], []).lasting).toBe(pages);
});
