import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { renderKubeconfig } from '../../../packages/embedded-hub/src/auth/kubeconfig.ts';
import { systemClock } from '@berth/runtime/clock/system-clock';
import { HttpKubeApi } from '@berth/kube/http-kube-api';
import { KubeConfig } from '@berth/kube/config/kube-config';
import { loadKubeConfig } from '@berth/kube/config/load-kube-config';
import { type ControllerDuties, renderControllerRbac } from '../../../src/core/rbac/controller-rbac.ts';
import { type KindInfo, MANIFEST_WORK } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi, WriteOptions } from '@berth/kube/model/kube-api';
import { AuditingKubeApi } from '../../fakes/auditing-kube-api.ts';
import { type RbacObject, rbacPath, rightsOf, withoutRight } from '../../fakes/rbac-rules.ts';
import { RawClient } from '../../conformance/agent/raw-client.ts';

const RBAC = 'rbac.authorization.k8s.io';
const HOME = 'berth-system';

export function printedRbac(duties: ControllerDuties): readonly RbacObject[] {
  return loadAll(renderControllerRbac(duties)) as RbacObject[];
}

/** Every right that is printed for the controller, `verb resource`, without those of people and those that the embedded hub never asks for. */
export function printedRights(duties: ControllerDuties): ReadonlySet<string> {
  const rules = printedRbac(duties)
    .filter(({ metadata: { name } }) => name !== 'berth-release' && name !== 'berth-owner-references')
    .flatMap((object) => object.rules ?? []);
  return new Set(rightsOf(rules));
}

/** Notes what server-side apply takes when it creates, and loses the answer to the first work that is made. */
class ControllerAudit extends AuditingKubeApi {
  readonly #admin: KubeApi;
  #answersToLose = 1;

  constructor(inner: KubeApi, admin: KubeApi) {
    super(inner);
    this.#admin = admin;
  }

  override async apply(kind: KindInfo, object: KubeObject, options: Parameters<KubeApi['apply']>[2]) {
    const { namespace = '', name } = object.metadata;
    const there = await this.#admin.get(kind, { namespace, name });
    if (there === undefined) this.used.add(`create ${kind.plural}`);
    return super.apply(kind, object, options);
  }

  override async create(kind: KindInfo, object: KubeObject, options?: WriteOptions) {
    if (kind === MANIFEST_WORK && this.#answersToLose-- > 0) await super.create(kind, object, options);
    return super.create(kind, object, options);
  }
}

/** Makes the printed objects, but for one right, and a client with the service account that they are bound to. */
export async function restrictedClient(
  fleet: {
    readonly hub: { readonly kubeconfig: string; readonly api: KubeApi };
    readonly dataDir: string;
  },
  duties: ControllerDuties,
  missing?: string,
) {
  const admin = new RawClient(loadKubeConfig({ file: fleet.hub.kubeconfig }));
  const post = async (path: string, body: object) => {
    const answer = await admin.send('POST', path, { body });
    if (answer.status !== 201) throw new Error(`POST ${path}: ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  for (const object of printedRbac(duties)) await post(rbacPath(object), withoutRight(object, missing));
  const accounts = `/api/v1/namespaces/${HOME}/serviceaccounts`;
  const kubeconfigOf = async (name: string) => {
    const { status } = await post(`${accounts}/${name}/token`, { spec: {} });
    const config = loadKubeConfig({ file: fleet.hub.kubeconfig });
    const user = { name: config.getCurrentUser()?.name ?? '', ...(status as { token: string }) };
    return new KubeConfig({ ...config, users: [user] });
  };
  const client = new HttpKubeApi({ config: await kubeconfigOf('berth'), clock: systemClock });
  return {
    api: new ControllerAudit(client, fleet.hub.api),
    /** The kubeconfig file of a person who may release, and nothing else. */
    releaser: async () => {
      for (const kind of ['ClusterRole', 'Role']) {
        const where = kind === 'Role' ? `namespaces/${HOME}/` : '';
        await post(`/apis/${RBAC}/v1/${where}${kind.toLowerCase()}bindings`, {
          metadata: { name: 'berth-release' },
          roleRef: { apiGroup: RBAC, kind, name: 'berth-release' },
          subjects: [{ kind: 'ServiceAccount', name: 'releaser', namespace: HOME }],
        });
      }
      const file = join(fleet.dataDir, 'releaser.kubeconfig');
      await post(accounts, { metadata: { name: 'releaser' } });
      const { clusters, users } = await kubeconfigOf('releaser');
      const authority = Buffer.from(clusters[0]?.caData ?? '', 'base64').toString('utf8');
      const credentials = { kind: 'token', token: users[0]?.token ?? '' } as const;
      writeFileSync(file, renderKubeconfig(clusters, authority, { name: 'releaser', credentials }));
      return file;
    },
    close: () => {
      client.close();
      admin.close();
    },
  };
}
