import { InputError } from '@berth/runtime/errors';
import { printableLines } from '@berth/runtime/text/printable';
import type { KubeApi, ServerEndpoints } from '@berth/kube/model/kube-api';
import { CLUSTER_MANAGEMENT_ADDON, DEPLOYMENT, NAMESPACE } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { namespacedName } from '@berth/kube/model/object-ref';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { nameList, namespaceAndName, refuseFlags, wrongOption } from '../../flags/option-values.ts';
import { type CliCommand, verbCommand } from '../cli-command.ts';
import { packageVersion } from '../version.ts';
import { installationOf, printedObjects } from '../installation/run-installation.ts';
import { readManifests } from '../objects/read-manifests.ts';

interface HubAddOnFlags extends HubFlags {
  readonly names: string;
  readonly namespace: string;
  readonly dryRun: boolean;
}

interface InstallFlags extends HubAddOnFlags {
  readonly manifests?: string;
  readonly values?: string;
  readonly createNamespace: boolean;
}

/** What clusteradm installs under a name, and where its manifests are. */
const BUILT_IN: Readonly<Record<string, string>> = {
  argocd:
    'Berth does the work of this add-on: start berth serve --argocd-pull. To install OCM’s program beside it: helm pull --untar argocd-pull-integration --repo https://open-cluster-management.io/helm-charts, then --manifests argocd-pull-integration',
  'argocd-agent':
    'helm pull --untar argocd-agent-addon --repo https://open-cluster-management.io/helm-charts, then --manifests argocd-agent-addon',
  'governance-policy-framework':
    'they are Go templates in github.com/open-cluster-management-io/clusteradm, folder pkg/cmd/install/hubaddon/scenario/addon/policy: --manifests FOLDER --values FILE with BundleVersion: {PolicyAddon: VERSION}',
};

/** Their manifests are Berth's. */
const OWN: Readonly<Record<string, (at: OwnPlace) => Promise<readonly KubeObject[]>>> = {
  'cluster-proxy': async ({ namespace, image, values: { publicUrl, agentAddress, replicas = 1 } }) => {
    if (!/^https:\/\//.test(String(publicUrl)) || typeof agentAddress !== 'string')
      throw wrongOption(
        '--values',
        `needs publicUrl: https://HOST:PORT for people, and agentAddress: HOST:PORT for clusters (image: default ${image})`,
      );
    if (typeof replicas !== 'number' || !Number.isInteger(replicas) || !(replicas >= 1 && replicas <= 100))
      throw wrongOption('--values', 'expected replicas: a whole number from 1 to 100');
    const { hubObjects } = await import('@berth/access/addon/hub-objects');
    return hubObjects({ namespace, image, publicUrl: String(publicUrl), agentAddress, replicas });
  },
  'managed-serviceaccount': async ({ namespace, image, values: { clusterProfiles = false } }) => {
    if (typeof clusterProfiles !== 'boolean')
      throw wrongOption('--values', 'expected clusterProfiles: true or false');
    const { accountHubObjects } = await import('@berth/access/addon/managed-serviceaccount');
    return accountHubObjects({ namespace, image, withProfiles: clusterProfiles });
  },
  'cluster-gateway': async ({ namespace, image }) => {
    const { gatewayHubObjects } = await import('@berth/access/addon/cluster-gateway');
    return gatewayHubObjects({ namespace, image });
  },
};

interface OwnPlace {
  readonly namespace: string;
  readonly image: string;
  readonly values: Readonly<Record<string, unknown>>;
}

const INSTALL_HELP = `
Writes the manager of an add-on to the hub. clusteradm brings manifests of ${Object.keys(BUILT_IN).join(', ')};
Berth brings none of these, and says where they are. It brings ${Object.keys(OWN).join(', ')} (docs/access.md). --manifests takes a folder
or a file of manifests; a folder with a Chart.yaml is rendered by the program helm. With --values a folder without one has Go templates: .Namespace is the namespace.
placement: NAMESPACE/NAME in the --values of Berth's own gives them to the clusters that the placement selects.
Objects of others with the same name stay as they are. A hub without nodes starts no programs: the output names them.

Exit codes: 0 installed, or nothing to do, 1 error.

Examples:
  berth install hub-addon --names argocd-agent --manifests argocd-agent-addon/ --namespace argocd --create-namespace
  berth install hub-addon --names governance-policy-framework --manifests policy/ --values versions.yaml
  berth install hub-addon --names observer --manifests observer/ --dry-run
  berth install hub-addon --names cluster-proxy --values addresses.yaml   # publicUrl, agentAddress, image
  berth install hub-addon --names cluster-proxy,managed-serviceaccount,cluster-gateway --values addresses.yaml
`;

const UNINSTALL_HELP = `
Deletes what berth install hub-addon wrote, with the ClusterManagementAddOns. Namespaces and definitions stay: objects of
others could be in them. The command refuses while a cluster has one of these add-ons.

Exit codes: 0 removed, or nothing to do, 1 error.

Examples:
  berth uninstall hub-addon --names argocd-agent --namespace argocd
  berth uninstall hub-addon --names governance-policy-framework --dry-run
`;

const NO_BUNDLE = 'Berth brings no manifests, so --manifests has the version';

export const installHubAddonCommand: CliCommand = {
  register(program, run) {
    const command = verbCommand(program, 'install', 'install the managers of add-ons on a hub')
      .command('hub-addon')
      .description('write the manager of an add-on to the hub')
      .option('--manifests <path>', 'its manifests: a folder, a file or a Helm chart')
      .option('--values <file>', 'YAML file with values for a chart or for Go templates')
      .option('--create-namespace', 'create the namespace if it is missing', false);
    refuseFlags(addFlags(command), {
      'bundle-version': NO_BUNDLE,
      'bundle-version-overrides': NO_BUNDLE,
      'output-file': '--dry-run prints the objects',
    })
      .addHelpText('after', INSTALL_HELP)
      .action(run((io, flags: InstallFlags) => install(io, flags)));
  },
};

export const uninstallHubAddonCommand: CliCommand = {
  register(program, run) {
    const command = verbCommand(program, 'uninstall', 'remove the managers of add-ons from a hub')
      .command('hub-addon')
      .description('delete what berth install hub-addon wrote');
    addFlags(command)
      .addHelpText('after', UNINSTALL_HELP)
      .action(run((io, flags: HubAddOnFlags) => uninstall(io, flags)));
  },
};

function addFlags(command: Parameters<typeof addHubFlags>[0]): ReturnType<typeof addHubFlags> {
  return addHubFlags(
    command
      .requiredOption('--names <names>', 'add-ons, separated by commas')
      .option('--namespace <name>', 'namespace of the manager', 'open-cluster-management')
      .option('--dry-run', 'print the objects, and change nothing', false),
  );
}

async function install(io: CliIo, flags: InstallFlags): Promise<ExitCode> {
  const names = nameList('--names', flags.names, 'add-ons');
  const { manifests, namespace } = flags;
  if (manifests !== undefined && names.length > 1)
    throw wrongOption('--names', 'expected one name with --manifests');
  const rendered = new Map<string, readonly KubeObject[]>();
  for (const name of names) {
    const objects =
      manifests === undefined
        ? await ownObjects(io, name, flags)
        : await render(io, name, { ...flags, manifests });
    if (objects === undefined) return 1;
    rendered.set(name, objects);
  }
  await withHub(io, flags, async (hub) => {
    const addOns = await import('../../../../controllers/addons/enabling/hub-addon.ts');
    const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
    for (const [name, own] of rendered) {
      const installer = `hub-addon.${name}` as const;
      const given = await withNamespace(hub, flags, own);
      const objects = await addOns.hubAddOnObjects(hub, namespace, given);
      if (flags.dryRun) {
        io.stdout.write(await printedObjects(objects, installer));
        continue;
      }
      const installation = installationOf(io, hub, { installer, clock });
      await addOns.installHubAddOn(installation, { name, namespace }, objects);
      io.stdout.write(`Installing built-in ${name} add-on to the Hub cluster...\n`);
      io.stdout.write(await programsToStart(hub, objects));
    }
  });
  return 0;
}

/** An add-on that Berth itself brings. */
async function ownObjects(
  io: CliIo,
  name: string,
  { namespace, values: file }: InstallFlags,
): Promise<readonly KubeObject[]> {
  const objectsOf = Object.hasOwn(OWN, name) ? OWN[name] : undefined;
  if (objectsOf === undefined) throw whereManifestsAre(name);
  const { default: path } = await import('node:path');
  const values = file === undefined ? {} : await readValues(path.resolve(io.cwd, file));
  const { image = `berth:${await packageVersion()}` } = values;
  if (typeof image !== 'string') throw wrongOption('--values', 'has an image that is no text');
  const objects = await objectsOf({ namespace, image, values });
  const { placement } = values;
  if (placement === undefined) return objects;
  if (typeof placement !== 'string') throw wrongOption('--values', 'expected placement: NAMESPACE/NAME');
  const at = namespaceAndName('--values', placement);
  const installStrategy = { type: 'Placements', placements: [at] };
  return objects.map((object) =>
    object.kind === CLUSTER_MANAGEMENT_ADDON.kind
      ? { ...object, spec: { ...(object['spec'] as object), installStrategy } }
      : object,
  );
}

function whereManifestsAre(name: string): InputError {
  return new InputError('Berth brings no manifests of it, expected --manifests', {
    code: 'addon.manifests',
    subject: `hub add-on ${name}`,
    hint: BUILT_IN[name] ?? `clusteradm knows ${Object.keys(BUILT_IN).join(', ')}`,
  });
}

/** The namespace comes first, if the hub lacks it. */
async function withNamespace(
  hub: KubeApi,
  { namespace, createNamespace }: InstallFlags,
  objects: readonly KubeObject[],
): Promise<readonly KubeObject[]> {
  const isGiven = objects.some(({ kind, metadata }) => kind === 'Namespace' && metadata.name === namespace);
  if (isGiven || (await hub.get(NAMESPACE, { namespace: '', name: namespace })) !== undefined) return objects;
  if (!createNamespace)
    throw new InputError('the hub has no such namespace', {
      code: 'kube.notfound',
      subject: `Namespace ${namespace}`,
      hint: 'create it with --create-namespace',
    });
  return [{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }, ...objects];
}

/** @returns undefined if problems were printed */
async function render(
  io: CliIo,
  name: string,
  { manifests, namespace, values: file }: InstallFlags & { readonly manifests: string },
): Promise<readonly KubeObject[] | undefined> {
  const { default: path } = await import('node:path');
  const { existsSync } = await import('node:fs');
  const folder = path.resolve(io.cwd, manifests);
  const isChart = existsSync(path.join(folder, 'Chart.yaml'));
  if (!isChart && file === undefined) {
    await refuseTemplates(folder);
    return readManifests(io, [manifests]);
  }
  const given = file === undefined ? {} : await readValues(path.resolve(io.cwd, file));
  const { goTemplates } = await import('@berth/addon/go-templates');
  const { helmChart } = await import('@berth/addon/helm-chart');
  const source = isChart
    ? helmChart(folder, { values: given })
    : goTemplates(folder, { values: { Namespace: namespace, ...given } });
  // A chart or a template of a hub's manager is rendered for no cluster.
  const addon = { apiVersion: '', kind: 'ManagedClusterAddOn', metadata: { name } } as const;
  const cluster = { metadata: { name: 'hub' } };
  return source({ addon, cluster, installNamespace: namespace, signal: io.signal });
}

/** A half of them would be valid YAML, and be installed. */
async function refuseTemplates(folder: string): Promise<void> {
  const { readdir, readFile, stat } = await import('node:fs/promises');
  const { default: path } = await import('node:path');
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const entries = isFolder ? await readdir(folder, { recursive: true, withFileTypes: true }) : [];
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = path.join(entry.parentPath, entry.name);
    if (/\{\{-?\s*\./.test(await readFile(file, 'utf8')))
      throw wrongOption('--manifests', `${path.relative(folder, file)} is a Go template, expected --values`);
  }
}

async function readValues(file: string): Promise<Readonly<Record<string, unknown>>> {
  const { readFile } = await import('node:fs/promises');
  const { load } = await import('js-yaml');
  const { errorText } = await import('@berth/runtime/errors');
  try {
    const values = load(await readFile(file, 'utf8'));
    if (typeof values === 'object' && values !== null) return values as Readonly<Record<string, unknown>>;
  } catch (cause) {
    throw wrongOption('--values', `${file} cannot be read: ${errorText(cause)}`);
  }
  throw wrongOption('--values', `${file} has no fields, expected a YAML object`);
}

/** On a hub that runs no pods, somebody has to start the programs elsewhere. */
async function programsToStart(
  hub: KubeApi & ServerEndpoints,
  objects: readonly KubeObject[],
): Promise<string> {
  const { runsPods } = await import('../../../../controllers/installation/installed-state.ts');
  const programs = objects.filter(({ kind }) => kind === DEPLOYMENT.kind);
  if (programs.length === 0 || (await runsPods(hub))) return '';
  return printableLines(
    programs.map(
      ({ metadata }) =>
        `The hub runs no pods: start the program of Deployment ${namespacedName(metadata)} yourself, with a kubeconfig of the hub`,
    ),
  );
}

async function uninstall(io: CliIo, flags: HubAddOnFlags): Promise<ExitCode> {
  const names = nameList('--names', flags.names, 'add-ons');
  const { namespace, dryRun } = flags;
  await withHub(io, flags, async (hub) => {
    const { uninstallHubAddOn } = await import('../../../../controllers/addons/enabling/hub-addon.ts');
    const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
    for (const name of names) {
      const installation = installationOf(io, hub, { installer: `hub-addon.${name}`, clock });
      const stays = await uninstallHubAddOn(installation, { name, namespace }, dryRun);
      const note = dryRun ? ' (dry run)' : '';
      io.stdout.write(
        printableLines(
          stays === undefined
            ? [
                `berth install hub-addon wrote nothing of ${name} in the namespace ${namespace}: there is nothing to do`,
              ]
            : [
                `Uninstalling built-in ${name} add-on from the Hub cluster...${note}`,
                ...stays.map(({ kind, metadata }) => `  keeps ${kind} ${metadata.name}`),
              ],
        ),
      );
    }
  });
  return 0;
}
