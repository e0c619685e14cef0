import { APPLICATION } from '../../core/argocd/argocd-kinds.ts';
import { countedRemoval } from '../../core/argocd/pull/judge-removals.ts';
import { planPull, type WorkToRemove } from '../../core/argocd/pull/plan-pull.ts';
import { PULL_LABEL } from '../../core/argocd/pull/pull-keys.ts';
import { hubApplicationOf, removalGroup } from '../../core/argocd/pull/pull-target.ts';
import { InputError } from '@berth/runtime/errors';
import { asApplication } from '../../core/argocd/argo-application.ts';
import { takesWork } from '@berth/ocm/kind/managed-cluster';
import type { ManifestWork } from '@berth/ocm/kind/manifest-work';
import { MANAGED_CLUSTER, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { formatNameList } from '@berth/runtime/text/name-list';
import {
  RELEASE_ANNOTATION,
  RELEASED_BY_ANNOTATION,
} from '../../core/publish/approval/publish-annotations.ts';
import { sha256 } from '@berth/runtime/sha256';
import { RELEASE_WRITE, type Release } from './release.ts';

/**
 * Releases held removals of pulled works. The removals are computed from the hub as the controller
 * does.
 * @param group see removalGroup
 * @returns the names of the works that are removed
 * @throws InputError `release.removals`, `release.not-held`, `release.token`, or what the hub
 * throws
 */
export async function releaseRemovals(
  hub: KubeApi,
  group: string,
  { code, releasedBy }: Release,
): Promise<readonly string[]> {
  const leaving = await leavingOf(hub, group);
  const { taken, names, code: current } = countedRemoval(sha256, group, leaving);
  const [first] = taken;
  if (first === undefined)
    throw new InputError('nothing is held', { code: 'release.not-held', subject: group });
  if (current !== code)
    throw new InputError(
      `the approval code ${code} does not match what would be removed now, under ${current}`,
      {
        code: 'release.token',
        subject: group,
        hint: `${names.length} ManifestWorks: ${formatNameList(names)}`,
      },
    );
  const { namespace = '', name } = first.work.metadata;
  const metadata = { annotations: { [RELEASE_ANNOTATION]: code, [RELEASED_BY_ANNOTATION]: releasedBy } };
  await hub.mergePatch(MANIFEST_WORK, { namespace, name }, { metadata }, RELEASE_WRITE);
  return names;
}

async function leavingOf(hub: KubeApi, group: string): Promise<readonly WorkToRemove[]> {
  const { items } = await hub.list(MANIFEST_WORK, { labelSelector: PULL_LABEL });
  const all = items as unknown as readonly ManifestWork[];
  const applications = new Set(
    all.filter((work) => removalGroup(work) === group).map((work) => hubApplicationOf(work) ?? ''),
  );
  if (applications.size === 0)
    throw new InputError('no ManifestWork on the hub carries such an Application', {
      code: 'release.removals',
      subject: group,
      hint: 'berth status names the ApplicationSets and namespaces whose removals are held',
    });
  const open = (await hub.list(MANAGED_CLUSTER)).items.filter(takesWork);
  const clusters = new Set(open.map(({ metadata }) => metadata.name));
  const leaving: WorkToRemove[] = [];
  for (const key of applications) {
    const [namespace = '', name = ''] = key.split('/');
    const live = await hub.get(APPLICATION, { namespace, name });
    const application = live === undefined ? undefined : asApplication(live);
    const works = all.filter((work) => hubApplicationOf(work) === key);
    leaving.push(...planPull({ application, works, takesWork: (one) => clusters.has(one) }).leaving);
  }
  return leaving;
}
