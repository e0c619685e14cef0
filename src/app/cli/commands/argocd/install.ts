import {
  argoConnectionObjects,
  argoExtensionObjects,
  secretName,
} from '../../../../../plugin/install/argo-connection.ts';
import { APPLICATION_SET_REPORT, GITOPS_CLUSTERS } from '../../../../core/argocd/argocd-kinds.ts';
import {
  apiVersionOf,
  CONFIG_MAP,
  CUSTOM_RESOURCE_DEFINITION,
  DEPLOYMENT,
  ROLE,
  ROLE_BINDING,
  SECRET,
  type KindInfo,
} from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { renderDocument } from '../../../terminal/output-format.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { withHub } from '../../flags/hub-flags.ts';
import { wrongValue } from '../../flags/option-values.ts';
import { type CliCommand, addArgocdFlags, argocdCommand, type ArgocdFlags } from '../cli-command.ts';

interface InstallFlags extends ArgocdFlags {
  readonly name: string;
  readonly url: string;
  readonly tokenFile?: string;
  readonly tokenEntry?: string;
  readonly placementNamespace: readonly string[];
  readonly gitopsClusterCrd: boolean;
  readonly reportCrd: boolean;
  readonly extension: boolean;
  readonly dryRun: boolean;
}

const KINDS: readonly KindInfo[] = [CONFIG_MAP, SECRET, ROLE, ROLE_BINDING, DEPLOYMENT];
const FIELD_MANAGER = 'berth-argocd-install';
const PLACEHOLDER = 'REPLACE-WITH-openssl-rand-hex-32';

const HELP = `
Writes into the namespace of Argo CD: the ConfigMap and the token of the plugin generator, the ConfigMap of
the clusterDecisionResource generator, and the right of Argo CD to list PlacementDecisions. An existing
token stays. Otherwise the command creates one, and prints its entry for the token file of berth serve.
--gitops-cluster-crd adds the definition of GitOpsCluster, v1beta1 and v1alpha1, for
berth serve --argocd-cluster-secrets. --report-crd adds that of MulticlusterApplicationSetReport, which
berth serve --argocd-pull writes. A hub that already serves the kind, such as an embedded hub, keeps its own definition.
--extension makes the pages of Argo CD say why Applications are where they are: a Secret, and fields in argocd-cm,
argocd-cmd-params-cm and the Deployment argocd-server, which starts again (docs/argocd-extension.md).

Exit codes: 0 written or printed, 1 error.

Examples:
  berth argocd install --url https://berth.berth-system.svc:8443
  berth argocd install --url https://berth.berth-system.svc:8443/namespaces/team-a --name berth-team-a
  berth argocd install --url https://berth.example.org --token-file token --dry-run | kubectl apply -f -
  berth argocd install --url http://192.0.2.10:8080 --token-entry tokens.yaml   # then run berth serve --token-file tokens.yaml
  berth argocd install --url https://berth.berth-system.svc:8443 --gitops-cluster-crd --report-crd
  berth argocd install --url https://berth.berth-system.svc:8443 --extension   # then run berth serve --argocd-extension
`;

export const argocdInstallCommand: CliCommand = {
  register(program, run) {
    const collect = (value: string, before: readonly string[]): readonly string[] => [...before, value];
    const command = argocdCommand(program)
      .command('install')
      .description('connect Argo CD with Berth: write ConfigMaps, a token and rights')
      .requiredOption('--url <url>', 'address at which Argo CD reaches Berth')
      .option('--name <name>', 'name of the plugin ConfigMap', 'berth')
      .option('--token-file <file>', 'the token to write, instead of a new one')
      .option(
        '--token-entry <file>',
        'write a token file for berth serve with the new token, instead of printing its entry',
      )
      .option(
        '--placement-namespace <name>',
        'a namespace whose placements the new token may read; may be repeated',
        collect,
        [],
      )
      .option('--gitops-cluster-crd', 'also write the definition of GitOpsCluster if the hub lacks it', false)
      .option(
        '--report-crd',
        'also write the definition of MulticlusterApplicationSetReport if the hub lacks it',
        false,
      )
      .option('--extension', 'also install the extension of the pages of Argo CD', false)
      .option('--dry-run', 'print the manifests and write nothing', false);
    addArgocdFlags(command)
      .addHelpText('after', HELP)
      .action(run((io, flags: InstallFlags) => install(io, flags)));
  },
};

async function install(io: CliIo, flags: InstallFlags): Promise<ExitCode> {
  const { argocdNamespace: namespace, name, url } = flags;
  const baseUrl = checkedUrl(url, flags.extension);
  const givenToken = flags.tokenFile === undefined ? undefined : await readToken(flags.tokenFile);
  if (flags.dryRun) {
    const connection = { namespace, name, baseUrl, token: givenToken ?? PLACEHOLDER };
    const objects = [
      ...(await wantedCrds(flags)).map(({ crd }) => crd),
      ...argoConnectionObjects(connection),
      ...(flags.extension ? argoExtensionObjects(connection) : []),
    ];
    const texts = await Promise.all(objects.map((object) => renderDocument(object, 'yaml')));
    io.stdout.write(texts.join('---\n'));
    return 0;
  }
  await withHub(io, flags, async (hub) => {
    for (const wanted of await wantedCrds(flags)) await writeCrd(hub, io, wanted);
    const secret = await hub.get(SECRET, { namespace, name: secretName(name) });
    const newToken = givenToken === undefined && secret === undefined ? await makeToken() : undefined;
    if (newToken !== undefined && flags.tokenEntry !== undefined)
      await writeNew(flags.tokenEntry, await entryOf(newToken, flags));
    const connection = { namespace, name, baseUrl, token: givenToken ?? newToken };
    const objects = [
      ...argoConnectionObjects(connection),
      ...(flags.extension
        ? argoExtensionObjects({ ...connection, token: connection.token ?? tokenOf(secret) })
        : []),
    ];
    for (const object of objects) await write(hub, object, io);
    if (flags.extension && newToken === undefined) io.stdout.write(SCOPE_MESSAGE);
    if (newToken !== undefined) io.stdout.write(await newTokenMessage(newToken, flags));
    else if (flags.tokenEntry !== undefined) io.stdout.write(noEntryMessage(flags));
  });
  return 0;
}

const SCOPE_MESSAGE =
  'The token stays: add scopes: [plugin, extension] to its entry in the token file of berth serve.\n';

function tokenOf(secret: KubeObject | undefined): string {
  const { token = '' } = (secret?.['data'] ?? {}) as { readonly token?: string };
  return Buffer.from(token, 'base64').toString('utf8');
}

async function write(hub: KubeApi, object: KubeObject, io: CliIo): Promise<void> {
  const kind = KINDS.find((one) => one.kind === object.kind) ?? CONFIG_MAP;
  await hub.apply(kind, object, { fieldManager: FIELD_MANAGER });
  io.stdout.write(`${object.kind} ${object.metadata.namespace ?? ''}/${object.metadata.name} written\n`);
}

interface WantedCrd {
  readonly crd: KubeObject;
  /** A hub that serves one of these kinds has a definition already. */
  readonly kinds: readonly KindInfo[];
}

async function wantedCrds({ gitopsClusterCrd, reportCrd }: InstallFlags): Promise<readonly WantedCrd[]> {
  const kinds = [
    ...(gitopsClusterCrd ? [GITOPS_CLUSTERS] : []),
    ...(reportCrd ? [[APPLICATION_SET_REPORT]] : []),
  ];
  const { ocmCrds } = await import('@berth/ocm/definition/ocm-crds');
  const crds = ocmCrds(['apps.open-cluster-management.io']) as readonly unknown[] as readonly KubeObject[];
  return crds.flatMap((crd) => {
    const wantedKinds = kinds.find(([kind]) => crd.metadata.name === `${kind?.plural}.${kind?.group}`);
    return wantedKinds === undefined ? [] : [{ crd, kinds: wantedKinds }];
  });
}

/**
 * An existing definition of another tool is not changed, since its objects may need fields that
 * ours does not have.
 */
async function writeCrd(hub: KubeApi, io: CliIo, { crd, kinds }: WantedCrd): Promise<void> {
  for (const kind of kinds) {
    const apiVersion = apiVersionOf(kind);
    if ((await hub.resolve(apiVersion, kind.kind)) === undefined) continue;
    io.stdout.write(`the hub already serves ${kind.kind} (${apiVersion}): its definition stays\n`);
    return;
  }
  await hub.apply(CUSTOM_RESOURCE_DEFINITION, crd, { fieldManager: FIELD_MANAGER });
  io.stdout.write(`${crd.kind} ${crd.metadata.name} written\n`);
}

async function newTokenMessage(token: string, flags: InstallFlags): Promise<string> {
  if (flags.tokenEntry !== undefined)
    return `A token was created. Start berth serve with --token-file ${flags.tokenEntry}\n`;
  const entry = await entryOf(token, flags);
  return `\nA token was created. Add it to the token file of berth serve (--token-file):\n\n${entry}`;
}

function noEntryMessage({ argocdNamespace, name, tokenFile, tokenEntry }: InstallFlags): string {
  if (tokenFile !== undefined)
    return `${tokenEntry} was not written: the token of --token-file is not new.\n`;
  return (
    `The Secret ${argocdNamespace}/${secretName(name)} keeps its token, so ${tokenEntry} was not written. If its entry is lost, ` +
    `run kubectl -n ${argocdNamespace} delete secret ${secretName(name)}, then this command with a file that does not exist.\n`
  );
}

/** Called before the token is written to the hub. If the file exists, it stays, and nothing else is done. */
async function writeNew(file: string, text: string): Promise<void> {
  const { writeFile } = await import('node:fs/promises');
  try {
    await writeFile(file, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    throw wrongValue(
      '--token-entry',
      file,
      'a file that does not exist; omit the option to print the entry, and add it to your file',
    );
  }
}

/** The entry for the token file of `berth serve`, with the digest instead of the token. */
async function entryOf(token: string, flags: InstallFlags): Promise<string> {
  const { sha256 } = await import('@berth/runtime/sha256');
  const namespaces = flags.placementNamespace.length === 0 ? ['*'] : flags.placementNamespace;
  const scopes = flags.extension ? { scopes: ['plugin', 'extension'] } : {};
  const entry = { name: `argocd-${flags.name}`, sha256: sha256(token), namespaces, ...scopes };
  return renderDocument({ tokens: [entry] }, 'yaml');
}

async function makeToken(): Promise<string> {
  const { randomBytes } = await import('node:crypto');
  return randomBytes(32).toString('hex');
}

/** The first token of a file, in either format that `berth serve` accepts. */
async function readToken(file: string): Promise<string> {
  const { readFile } = await import('node:fs/promises');
  const { parseTokenFile } = await import('../../../../../plugin/tokens/token-file.ts');
  const entries = parseTokenFile(file, await readFile(file, 'utf8'));
  const token = entries.find((entry) => entry.token !== undefined && entry.grant.scopes.has('plugin'))?.token;
  if (token === undefined) throw wrongValue('--token-file', file, 'a file with a token, not its sha256');
  return token;
}

function checkedUrl(url: string, isForExtension: boolean): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed === undefined || !/^https?:$/.test(parsed.protocol) || parsed.search !== '')
    throw wrongValue(
      '--url',
      url,
      'https://HOST:PORT, with a path if the token is bound to one, and without a query',
    );
  if (isForExtension && parsed.pathname !== '/')
    throw wrongValue('--url', url, 'an address without a path: the proxy of Argo CD leaves it out');
  return url;
}
