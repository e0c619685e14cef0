import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi, ServerEndpoints } from '@berth/kube/model/kube-api';
import { bootstrapObjects } from '../../../../core/registration/install/bootstrap-objects.ts';
import { deploymentOf, type ProcessDeployment } from '../../../../core/registration/install/deployment.ts';
import { addFlags, flagValue } from '../../../../core/registration/install/serve-flags.ts';
import { isInstalledBy } from '../../../../core/registration/install/installed-object.ts';
import { planDefaultSet, DEFAULT_SETS } from '@berth/ocm/registration/default-sets';
import { DEFAULT_NAMESPACE } from '../../../../core/sync/apply-set.ts';
import { InputError } from '@berth/runtime/errors';
import { sha256 } from '@berth/runtime/sha256';
import { berthHome, writePrivate } from '../../../background/background-process.ts';
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
/** At first the controllers run without a Git source, decide all placements, and handle registration and add-ons. */
const FIRST_DUTIES = ['--embedded', '--registration=all', '--addons=all'];
/** What a pod needs: a place for its files, an address for probes and clients, and one for OCM's webhooks. */
const POD_FLAGS = [`--data=${DATA}`, '--listen=0.0.0.0:8080', `--admission-listen=:${WEBHOOK_PORT}`];
const SECRETS = '/etc/berth';

/** How the controllers run: the flags of `berth serve`, and the Secrets that hold the files which flags name. */
export interface ControllerSettings {
  readonly flags: readonly string[];
  /** Names of Secrets in berth-system. Each is a folder below /etc/berth. */
  readonly secrets: readonly string[];
}

/**
 * The flags that the controllers have before any are added.
 * @param running of those that run; undefined: none run, and they get their first duties
 */
export function flagsBefore(
  running: Pick<ControllerSettings, 'flags'> | undefined,
  isForPods: boolean,
): readonly string[] {
  return addFlags(isForPods ? POD_FLAGS : [], running?.flags ?? FIRST_DUTIES);
}

/** The settings of the controllers that an earlier `berth init` started, in a pod or here; undefined if there are none. */
export async function installedSettings(
  io: CliIo,
  hub: KubeApi & ServerEndpoints,
): Promise<ControllerSettings | undefined> {
  const { DEPLOYMENT } = await import('@berth/kube/model/kinds');
  const found = (await hub.get(DEPLOYMENT, CONTROLLERS)) as ControllerDeployment | undefined;
  if (found === undefined || !isInstalledBy(found, 'init'))
    return backgroundSettings(controllersFolder(io, hub.server));
  const { containers = [], volumes = [] } = found.spec?.template?.spec ?? {};
  const [, ...flags] = containers[0]?.args ?? [];
  return { flags, secrets: volumes.flatMap(({ secret }) => secret?.secretName ?? []) };
}

/** Who else wrote the Deployment of the controllers: `the Helm release berth`. Undefined: nobody, or `berth init`. */
export async function otherInstaller(hub: KubeApi): Promise<string | undefined> {
  const { DEPLOYMENT } = await import('@berth/kube/model/kinds');
  const found = await hub.get(DEPLOYMENT, CONTROLLERS);
  if (found === undefined || isInstalledBy(found, 'init')) return undefined;
  const release = found.metadata.annotations?.['meta.helm.sh/release-name'];
  return release === undefined ? 'somebody else' : `the Helm release ${release}`;
}

type ControllerDeployment = KubeObject & {
  readonly spec?: {
    readonly template?: {
      readonly spec?: {
        readonly containers?: readonly { readonly args?: readonly string[] }[];
        readonly volumes?: readonly { readonly secret?: { readonly secretName?: string } }[];
      };
    };
  };
};

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
  const code = await runCommands([serveCommand], ['serve', ...flags, '--print-rbac'], { ...io, stdout });
  if (code !== 0)
    throw new InputError('refuses these flags, as it says above', {
      code: 'install.flags',
      subject: 'berth serve',
      hint: `give only flags of berth serve after --; they are: ${flags.join(' ')}`,
    });
  return objectsIn(await text(stdout.end()));
}

/**
 * The objects of the controllers and of joining clusters.
 * @param image absent: no pod runs the controllers
 */
export async function hubObjects(
  io: CliIo,
  image: string | undefined,
  settings: ControllerSettings,
): Promise<readonly KubeObject[]> {
  return [...bootstrapObjects(), ...(await controllerObjects(io, image, settings))];
}

/**
 * The objects of the controllers alone.
 * @param image absent: no pod runs them
 */
export async function controllerObjects(
  io: CliIo,
  image: string | undefined,
  settings: ControllerSettings,
): Promise<readonly KubeObject[]> {
  const rights = await controllerRights(io, settings.flags);
  return [...rights, ...(image === undefined ? [] : podObjects(image, settings))];
}

/** How the hub reaches the webhooks. */
export const WEBHOOKS = { kind: 'service', ...CONTROLLERS, name: ADMISSION_NAME, port: 443 } as const;

const WEBHOOK_SERVICE: KubeObject = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { namespace: WEBHOOKS.namespace, name: WEBHOOKS.name },
  spec: { selector: { app: CONTROLLERS.name }, ports: [{ port: WEBHOOKS.port, targetPort: WEBHOOK_PORT }] },
};

/** The Deployment, and the Services by which others reach it. */
function podObjects(image: string, settings: ControllerSettings): readonly KubeObject[] {
  const { port } = probesOf(settings.flags);
  const { name } = CONTROLLERS;
  const ports = [{ name: 'http', port, targetPort: port }];
  // With several pods, each client stays with one pod, so that no response is older than the previous one.
  const spec = { selector: { app: name }, sessionAffinity: 'ClientIP', ports };
  return [
    podOf(image, settings),
    ...(flagValue(settings.flags, '--admission-listen') === undefined ? [] : [WEBHOOK_SERVICE]),
    { apiVersion: 'v1', kind: 'Service', metadata: { ...CONTROLLERS, labels: { app: name } }, spec },
  ];
}

function probesOf(flags: readonly string[]): ProcessDeployment['probes'] {
  const [, port = ''] = /:?(\d+)$/.exec(flagValue(flags, '--listen') ?? '') ?? [];
  return { port: Number(port), scheme: flagValue(flags, '--tls-cert') === undefined ? 'HTTP' : 'HTTPS' };
}

function podOf(image: string, { flags, secrets }: ControllerSettings): KubeObject {
  return deploymentOf({
    ...CONTROLLERS,
    account: CONTROLLERS.name,
    image,
    args: ['serve', ...flags],
    secrets: secrets.map((secret, index) => ({
      ...{ volume: `secret-${index + 1}`, secret },
      path: `${SECRETS}/${secret}`,
    })),
    folders: [
      { volume: 'data', path: DATA },
      { volume: 'tmp', path: '/tmp' },
    ],
    probes: probesOf(flags),
    requests: { cpu: '50m', memory: '256Mi' },
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

const FLAGS_FILE = 'flags.json';

function backgroundSettings(folder: string): ControllerSettings | undefined {
  const file = path.join(folder, FLAGS_FILE);
  if (!existsSync(file)) return undefined;
  return { flags: JSON.parse(readFileSync(file, 'utf8')) as readonly string[], secrets: [] };
}

/** Stores the flags of controllers that start now. */
export function storeFlags(folder: string, flags: readonly string[]): void {
  writePrivate(folder, FLAGS_FILE, JSON.stringify(flags));
}

/** The arguments of `berth`, with the data and the kubeconfig in the folder. */
export function controllersArgs(folder: string, flags: readonly string[]): readonly string[] {
  const own = [`--data=${path.join(folder, 'data')}`, `--kubeconfig=${path.join(folder, 'hub.kubeconfig')}`];
  return ['serve', ...flags, ...own];
}
