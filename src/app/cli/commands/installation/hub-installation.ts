import path from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { bootstrapObjects } from '../../../../core/registration/install/bootstrap-objects.ts';
import { deploymentOf } from '../../../../core/registration/install/deployment.ts';
import { planDefaultSet, DEFAULT_SETS } from '@berth/ocm/registration/default-sets';
import { DEFAULT_NAMESPACE } from '../../../../core/sync/apply-set.ts';
import { sha256 } from '@berth/runtime/sha256';
import { berthHome } from '../../../background/background-process.ts';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { objectsIn } from './run-installation.ts';
import {
  ADMISSION_NAME,
  CONVERTED,
  conversionBy,
} from '../../../../core/registration/webhooks/webhook-configurations.ts';
import { withHoldColumns } from '../../../../core/publish/hold-columns.ts';

/** The namespace of the controllers on a hub, and the name of their account and Deployment. */
export const CONTROLLERS = { namespace: DEFAULT_NAMESPACE, name: 'berth' } as const;
/** The ConfigMap where cluster installers publish the address and the authority of an API server. */
export const CLUSTER_INFO = { namespace: 'kube-public', name: 'cluster-info' } as const;
const DATA = '/var/lib/berth';
const WEBHOOK_PORT = 9443;
/** The controllers run without a Git source, decide all placements, and handle registration and add-ons. */
const SERVE = ['serve', '--embedded', '--registration=all', '--addons=all'];
/** As pods, the controllers also answer OCM's webhooks. */
const SERVE_PODS = [...SERVE, `--admission-listen=:${WEBHOOK_PORT}`];

/**
 * The definitions of OCM's kinds that the hub does not serve yet.
 * @param isForPods: the controllers will convert add-ons. Until they do, the hub refuses what needs a conversion, and
 *   so loses no fields.
 */
export async function missingDefinitions(hub: KubeApi, isForPods: boolean): Promise<readonly KubeObject[]> {
  const missing: KubeObject[] = [];
  for (const crd of withHoldColumns(ocmCrds()) as unknown as readonly CrdObject[]) {
    const { group, names, versions } = crd.spec;
    const known = await Promise.all(versions.map(({ name }) => hub.resolve(`${group}/${name}`, names.kind)));
    const isConverted = isForPods && CONVERTED.includes(crd.metadata.name);
    if (known.every((kind) => kind === undefined))
      missing.push(isConverted ? { ...crd, spec: { ...crd.spec, conversion: conversionBy(WEBHOOKS) } } : crd);
  }
  return missing;
}

type CrdObject = KubeObject & {
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string };
    readonly versions: readonly { readonly name: string }[];
  };
};

/** The account of the controllers and its rights: those that `berth serve --print-rbac` prints for their flags. */
async function controllerRights(io: CliIo, flags: readonly string[]): Promise<readonly KubeObject[]> {
  const { runCommands } = await import('../run-commands.ts');
  const { serveCommand } = await import('../controller/serve.ts');
  const stdout = new PassThrough();
  await runCommands([serveCommand], [...flags, '--print-rbac'], { ...io, stdout });
  return objectsIn(await text(stdout.end()));
}

/**
 * The objects of the controllers and of joining clusters.
 * @param image absent: no pod runs the controllers
 */
export async function hubObjects(io: CliIo, image: string | undefined): Promise<readonly KubeObject[]> {
  return [...bootstrapObjects(), ...(await controllerObjects(io, image))];
}

/**
 * The objects of the controllers alone.
 * @param image absent: no pod runs them
 */
export async function controllerObjects(
  io: CliIo,
  image: string | undefined,
): Promise<readonly KubeObject[]> {
  if (image === undefined) return controllerRights(io, SERVE);
  return [...(await controllerRights(io, SERVE_PODS)), WEBHOOK_SERVICE, podOf(image)];
}

/** How the hub reaches the webhooks. */
export const WEBHOOKS = { kind: 'service', ...CONTROLLERS, name: ADMISSION_NAME, port: 443 } as const;

const WEBHOOK_SERVICE: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: WEBHOOKS.namespace, name: WEBHOOKS.name },
  spec: { selector: { app: CONTROLLERS.name }, ports: [{ port: WEBHOOKS.port, targetPort: WEBHOOK_PORT }] },
};

function podOf(image: string): KubeObject {
  return deploymentOf({
    ...CONTROLLERS,
    account: CONTROLLERS.name,
    image,
    args: [...SERVE_PODS, `--data=${DATA}`],
    secrets: [],
    folders: [
      { volume: 'data', path: DATA },
      { volume: 'tmp', path: '/tmp' },
    ],
  });
}

/** The sets that every hub has, as far as they are missing. */
export async function missingSets(hub: KubeApi): Promise<readonly KubeObject[]> {
  const { MANAGED_CLUSTER_SET } = await import('@berth/kube/model/kinds');
  const missing: KubeObject[] = [];
  for (const name of DEFAULT_SETS.keys()) {
    if ((await hub.get(MANAGED_CLUSTER_SET, { namespace: '', name })) !== undefined) continue;
    const plan = planDefaultSet(name, undefined);
    if (plan?.kind === 'create') missing.push(plan.set as unknown as KubeObject);
  }
  return missing;
}

/** The folder for the files of controllers that run in the background. */
export function controllersFolder(io: CliIo, server: string): string {
  return path.join(berthHome(io.env), 'controllers', sha256(server).slice(0, 12));
}

/** The arguments of the controllers, with the kubeconfig in their folder. */
export function controllersArgs(folder: string): readonly string[] {
  const data = path.join(folder, 'data');
  return [...SERVE, `--data=${data}`, `--kubeconfig=${path.join(folder, 'hub.kubeconfig')}`];
}
