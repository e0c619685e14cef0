import { randomBytes } from 'node:crypto';
import { accessSync, constants, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { KubeConfig } from '@berth/kube/config/kube-config';
import { apiVersionOf, SECRET } from '@berth/kube/model/kinds';
import type { KubeApi, ServerEndpoints } from '@berth/kube/model/kube-api';
import { InputError } from '@berth/runtime/errors';
import { PRIVATE_DIRECTORY_MODE } from '@berth/runtime/files/private-mode';
import { printable } from '@berth/runtime/text/printable';
import { SECRET_TYPE_LABEL } from '../../../../core/argocd/cluster-secrets/cluster-secret.ts';
import {
  ARGO_KINDS,
  ARGO_PORTS,
  type ArgoProgram,
  argoPrograms,
  argoSettings,
  type KindedObject,
  type KnownMember,
  memberSecret,
  openDefinition,
} from '../../../../core/argocd/local-argocd.ts';
import { tokenKubeconfig } from '../../../../core/registration/install/bootstrap-objects.ts';
import { writePrivate } from '../../../background/background-process.ts';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { withHub } from '../../flags/hub-flags.ts';
import { addArgocdFlags, type ArgocdFlags, argocdCommand, type CliCommand } from '../cli-command.ts';

interface RunFlags extends ArgocdFlags {
  readonly programs?: string;
  readonly data: string;
  readonly clusters: boolean;
  readonly dryRun: boolean;
}

const HELP = `
For an embedded hub, on which no pods run. The command writes to the hub what Argo CD needs and the hub lacks: its
namespace, kinds and settings, the project default, and a cluster Secret for each member that the kubeconfig names. Then
it starts redis, the repository server, the application controller and the ApplicationSet controller, and ends them at
Ctrl-C. What it wrote stays on the hub. The programs have the rights of the token in the kubeconfig.

Nothing is downloaded. It needs git, redis-server, and the program argocd of Argo CD 3.6, which contains the others.

Exit codes: 0 stopped by a signal, or printed, 1 error, such as a missing program or one that ended.

Examples:
  berth argocd run --kubeconfig .berth/hub/admin.kubeconfig
  berth argocd run --kubeconfig .berth/hub/admin.kubeconfig --programs ~/argocd-3.6
  berth argocd run --dry-run   # print what would be started, or what is missing
`;

export const argocdRunCommand: CliCommand = {
  register(program, run) {
    const command = argocdCommand(program)
      .command('run')
      .description('run the programs of Argo CD on this machine, for an embedded hub')
      .option('--programs <dir>', 'folder with argocd and redis-server, searched before PATH')
      .option('--data <dir>', 'folder for logs and files of the programs', '.berth/argocd')
      .option(
        '--no-clusters',
        'write no cluster Secrets: berth serve --argocd-cluster-secrets does, or a user',
      )
      .option('--dry-run', 'print what would be started, and change nothing', false);
    addArgocdFlags(command)
      .addHelpText('after', HELP)
      .action(run((io, flags: RunFlags) => runArgo(io, flags)));
  },
};

async function runArgo(io: CliIo, flags: RunFlags): Promise<ExitCode> {
  const files = findPrograms(io, flags.programs);
  const say = (line: string): void => void io.stdout.write(`${printable(line)}\n`);
  if (flags.dryRun) {
    for (const [name, file] of Object.entries(files)) say(`${name}: ${file}`);
    return 0;
  }
  const folder = path.resolve(io.cwd, flags.data);
  const members = await withHub(io, flags, (hub) => prepareHub(io, hub, flags, { say, folder }));
  const { freePorts, runPrograms } = await import('./run-programs.ts');
  const programs = argoPrograms({
    namespace: flags.argocdNamespace,
    kubeconfig: path.join(folder, KUBECONFIG),
    folder: path.join(folder, TEMPORARY),
    ports: await freePorts(ARGO_PORTS),
  });
  const env = { ...io.env, PATH: `${folder}${path.delimiter}${io.env['PATH'] ?? ''}` };
  await runPrograms(programs, {
    fileOf: ({ file }: ArgoProgram) => files[file],
    ...{ folder, env, say, signal: io.signal },
    onReady: () => say(readyText(flags, members)),
  });
  return 0;
}

const KUBECONFIG = 'hub.kubeconfig';
const TEMPORARY = 'tmp';

const NEEDED: Readonly<Record<ArgoProgram['file'] | 'git', string>> = {
  argocd:
    'argocd-OS-ARCH of a release of Argo CD 3.6, which contains its other programs, too, as an executable file argocd in a folder for --programs',
  'redis-server': 'the package redis-server, or redis',
  git: 'the package git',
};

/**
 * The paths of the programs.
 * @throws InputError that says what to get
 */
function findPrograms(io: CliIo, folder: string | undefined): Readonly<Record<ArgoProgram['file'], string>> {
  const folders = (io.env['PATH'] ?? '').split(path.delimiter).filter((one) => one !== '');
  if (folder !== undefined) folders.unshift(path.resolve(io.cwd, folder));
  const find = (name: string): string | undefined =>
    folders.map((one) => path.join(one, name)).find(isExecutable);
  const missing = Object.entries(NEEDED).filter(([name]) => find(name) === undefined);
  if (missing.length > 0)
    throw new InputError('found neither on PATH nor in the folder of --programs', {
      code: 'argocd.program',
      subject: missing.map(([name]) => name).join(', '),
      hint: `get ${missing.map(([, what]) => what).join('; ')}`,
    });
  return { argocd: find('argocd') ?? '', 'redis-server': find('redis-server') ?? '' };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The repository server calls it by name before each use of a commit, also if it checks no signatures. */
const VERIFIER = { name: 'git-verify-wrapper.sh', text: '#!/bin/sh\n# No signatures are checked here.\n' };

/**
 * Writes to the hub what it lacks, and the files of the programs.
 * @returns the members that Argo CD gets to know
 * @throws InputError for a hub that runs pods, or a kubeconfig without a token
 */
async function prepareHub(
  io: CliIo,
  hub: KubeApi & ServerEndpoints,
  flags: RunFlags,
  { say, folder }: { readonly say: (line: string) => void; readonly folder: string },
): Promise<readonly KnownMember[]> {
  const { runsPods } = await import('../../../../controllers/installation/installed-state.ts');
  const { loadKubeConfig } = await import('@berth/kube/config/load-kube-config');
  if (await runsPods(hub))
    throw new InputError('runs pods, expected an embedded hub', {
      code: 'argocd.pods',
      subject: hub.server,
      hint: 'install Argo CD there, as its documentation says, and connect it: berth argocd install',
    });
  const config = loadKubeConfig({ file: flags.kubeconfig, context: flags.context, env: io.env });
  const token = config.getCurrentUser()?.token;
  if (token === undefined)
    throw new InputError('has no token, expected one that the programs of Argo CD can use', {
      code: 'argocd.token',
      subject: 'the kubeconfig of the hub',
      hint: 'use the one whose path berth hub prints, or berth hub kubeconfig',
    });
  rmSync(path.join(folder, TEMPORARY), { recursive: true, force: true });
  mkdirSync(path.join(folder, TEMPORARY), { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
  const entry = config.getCurrentCluster() ?? { server: hub.server };
  const names = { cluster: 'hub', user: 'argocd', context: 'hub' };
  writePrivate(
    folder,
    KUBECONFIG,
    JSON.stringify(tokenKubeconfig(names, { caData: undefined, proxyUrl: undefined, ...entry }, token)),
  );
  writeFileSync(path.join(folder, VERIFIER.name), VERIFIER.text, { mode: 0o700 });
  await writeMissing(hub, await missingKinds(hub), say);
  await writeMissing(hub, argoSettings(flags.argocdNamespace, randomBytes(32).toString('hex')), say);
  const members = flags.clusters ? await unknownMembers(hub, config, flags.argocdNamespace) : [];
  const secrets = members.map((one) => ({
    kind: SECRET,
    object: memberSecret(one, flags.argocdNamespace, token),
  }));
  await writeMissing(hub, secrets, say);
  return members;
}

async function missingKinds(hub: KubeApi): Promise<readonly KindedObject[]> {
  const known = await Promise.all(ARGO_KINDS.map((kind) => hub.resolve(apiVersionOf(kind), kind.kind)));
  return ARGO_KINDS.filter((_kind, index) => known[index] === undefined).map(openDefinition);
}

async function writeMissing(
  hub: KubeApi,
  objects: readonly KindedObject[],
  say: (line: string) => void,
): Promise<void> {
  for (const { kind, object } of objects) {
    const { namespace = '', name } = object.metadata;
    if ((await hub.get(kind, { namespace, name })) !== undefined) continue;
    await hub.create(kind, object, { fieldManager: 'berth-argocd-run' });
    say(`${kind.kind} ${name} written`);
  }
}

/** The members in the kubeconfig that no cluster Secret of Argo CD names. */
async function unknownMembers(
  hub: KubeApi & ServerEndpoints,
  config: KubeConfig,
  namespace: string,
): Promise<readonly KnownMember[]> {
  const { items } = await hub.list(SECRET, { namespace, labelSelector: `${SECRET_TYPE_LABEL}=cluster` });
  const known = new Set(items.map(({ data }) => decoded((data as { readonly server?: string }).server)));
  const prefix = `${hub.server.replace(/\/$/, '')}/clusters/`;
  return config.clusters
    .filter(({ server }) => server.startsWith(prefix) && !known.has(server))
    .map(({ server, caData }) => ({ name: server.slice(prefix.length), server, caData }));
}

const decoded = (base64 = ''): string => Buffer.from(base64, 'base64').toString();

function readyText({ argocdNamespace: namespace }: RunFlags, members: readonly KnownMember[]): string {
  const names = members.map(({ name }) => name).join(', ');
  return `\nArgo CD runs${names === '' ? '' : `, and knows ${names} now`}. See its Applications:\n\n    kubectl -n ${namespace} get applications\n\nCtrl-C ends it.`;
}
