import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { InputError } from '@berth/runtime/errors';
import { CONFIG_MAP } from '@berth/kube/model/kinds';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { KubeApi, ServerEndpoints } from '@berth/kube/model/kube-api';
import { printable } from '@berth/runtime/text/printable';
import {
  bootstrapObjects,
  joinCommand,
  joinTicketValue,
  REPLACE_THE_NAME,
} from '../../../../core/registration/install/bootstrap-objects.ts';
import { clusterManagerObjects } from '../../../../core/registration/install/operator-objects.ts';
import { addFlags, changedFlags } from '../../../../core/registration/install/serve-flags.ts';
import type { ActiveController } from '../../../../core/registration/install/controller-announcement.ts';
import { PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';
import { type CliIo, type ExitCode, NOT_READY } from '../../../terminal/cli-io.ts';
import { type OutputFormat, outputOption, renderDocument } from '../../../terminal/output-format.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { refuseFlags, wrongOption } from '../../flags/option-values.ts';
import type { CliCommand } from '../cli-command.ts';
import { CLUSTER_INFO, type ControllerSettings } from './hub-installation.ts';
import { accountKubeconfig, joinTicket, NO_BOOTSTRAP_TOKENS, serverEntry } from './get-token.ts';
import { addInstallFlags, imageOf, installationOf, refuseImage } from './run-installation.ts';
import { type InstallFlags, showObjects, waitUntil } from './run-installation.ts';

interface InitFlags extends HubFlags, InstallFlags {
  readonly output: OutputFormat | 'text';
  readonly outputJoinCommandFile?: string;
  readonly controllers: boolean;
  readonly secret?: readonly string[];
  readonly onlyTheseFlags: boolean;
}

const HELP = `
Writes what a hub needs so that clusters can join: missing definitions of OCM’s kinds, the account that clusters
join with, the sets default and global, and Berth’s controllers. They run as a Deployment in berth-system. On a hub
without nodes, such as the embedded one, they run in the background on this machine. If OCM’s cluster manager
runs, its controllers stay in charge and none are added. The same applies if other controllers hold Leases; the command
names them. A second run writes only what differs.

Flags of berth serve after -- give the controllers more to do, such as a Git repository. They are added to those that
run; a flag that runs already gets the new value. The command prints what changes. Files that flags name come from
Secrets of berth-system: --secret NAME mounts one at /etc/berth/NAME.

Exit codes: 0 prepared, or nothing to do, 1 error, 2 prepared, but what --wait waits for is missing.

Examples:
  berth init --wait --context hub
  berth init --output-file hub.yaml --dry-run       # print only
  berth init --no-controllers                       # if berth serve --registration all runs already
  berth init --wait -- --repo=https://git.example.org/fleet.git --ref=main
  berth init --secret git -- --repo=https://git.example.org/fleet.git --git-token-file=/etc/berth/git/token
`;

const REFUSED = {
  'use-bootstrap-token': NO_BOOTSTRAP_TOKENS,
  force: 'a second berth init writes only what differs',
  singleton: 'the controllers are always one process',
  'feature-gates': 'berth serve has a flag for each duty, see docs/registration.md',
  'create-namespace': 'missing namespaces are always created',
  'resource-qos-class': 'change the Deployment that --output-file writes',
  'registration-drivers': 'clusters register with certificates, which is OCM’s driver csr',
  'auto-approved-csr-identities':
    'give them to berth serve --auto-accept-user, and run berth init --no-controllers',
};

/** `berth init`: prepares a hub, so that clusters can join it. */
export const initCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('init')
      .description('prepare a hub so that clusters can join it, and print the command that they join with')
      .addOption(outputOption('text'))
      .option('--no-controllers', 'do not install Berth’s controllers')
      .option(
        '--output-join-command-file <file>',
        'also write the join command to a file; it contains a token',
      )
      .option('--secret <name...>', 'a Secret of berth-system whose files flags of berth serve name')
      .option('--only-these-flags', 'remove flags of berth serve that run and are not given', false)
      .argument('[flags...]', 'after --: flags of berth serve for the controllers');
    refuseFlags(addInstallFlags(addHubFlags(command), 'the controllers are ready'), REFUSED)
      .addHelpText('after', HELP)
      .action(run((io, given: readonly string[], flags: InitFlags) => init(io, flags, given)));
  },
};

async function init(io: CliIo, flags: InitFlags, given: readonly string[]): Promise<ExitCode> {
  const image = await imageOf(flags);
  const isForPrograms = flags.output === 'json' || flags.output === 'yaml';
  const print = (line: string): void => void (isForPrograms ? io.stderr : io.stdout).write(`${line}\n`);
  await withHub(io, flags, async (hub) => {
    const prepared = await prepare(io, hub, flags, { image, print, given });
    if (!prepared) return;
    const ticket = await joinTicket(io, hub, flags);
    const command = joinCommand(ticket);
    if (flags.outputJoinCommandFile !== undefined)
      await writeFile(path.resolve(io.cwd, flags.outputJoinCommandFile), `${command}\n`, {
        mode: PRIVATE_FILE_MODE,
      });
    if (flags.output === 'json' || flags.output === 'yaml')
      io.stdout.write(await renderDocument(joinTicketValue(ticket), flags.output));
    else
      io.stdout.write(
        `\nThe hub is ready. To join a cluster, run this command within an hour (berth get token prints a new one):\n\n    ${command}\n\n${REPLACE_THE_NAME}\n`,
      );
  });
  return 0;
}

interface Preparation {
  readonly image: string;
  readonly print: (line: string) => void;
  /** Flags of `berth serve`. */
  readonly given: readonly string[];
}

/** @returns whether anything was written to the hub */
async function prepare(
  io: CliIo,
  hub: KubeApi & ServerEndpoints,
  flags: InitFlags,
  { image, print, given }: Preparation,
): Promise<boolean> {
  const { hasOcmOperator, findOtherControllers, isEmbedded, runsPods } = await import(
    '../../../../controllers/installation/installed-state.ts'
  );
  const { applyObjects } = await import('../../../../controllers/installation/apply-objects.ts');
  const { systemClock: clock } = await import('@berth/runtime/clock/system-clock');
  const {
    controllersFolder,
    hubObjects,
    installedSettings,
    missingDefinitions,
    missingSets,
    otherInstaller,
  } = await import('./hub-installation.ts');
  const { runningPid } = await import('../../../background/background-process.ts');
  const isOcms = await hasOcmOperator(hub);
  const isForPods = await runsPods(hub);
  const running = await installedSettings(io, hub);
  // Those that init started and that still run are no others. A process that was ended may have a successor.
  const runsOurs =
    running !== undefined && (isForPods || runningPid(controllersFolder(io, hub.server)) !== undefined);
  const others = isOcms || runsOurs ? [] : await findOtherControllers(hub, clock.now());
  const installer = await otherInstaller(hub);
  const installsControllers = flags.controllers && !isOcms && others.length === 0 && installer === undefined;
  if (!isForPods || !installsControllers) refuseImage(flags, 'the hub');
  if (!installsControllers) refuseServeFlags(flags, given);
  if (!isForPods && flags.secret !== undefined)
    throw wrongOption(
      '--secret',
      'has no effect here: the hub runs no pods, so the files are on this machine',
    );
  const definitions = await missingDefinitions(hub, isForPods && installsControllers);
  const [settings, changes] = await newSettings(running, { flags, given, isForPods });
  const objects = installsControllers
    ? [
        ...(await hubObjects(io, isForPods ? image : undefined, settings)),
        ...((await isEmbedded(hub)) ? clusterManagerObjects() : []),
      ]
    : bootstrapObjects();
  // With --dry-run the objects alone are on stdout.
  const say = flags.dryRun ? (line: string): void => void io.stderr.write(`${line}\n`) : print;
  if (installsControllers && changes.length > 0)
    say(`Flags of the controllers change:\n${indented(changes)}`);
  const info = isForPods ? [] : await clusterInfo(io, hub, flags);
  const isWritten = await showObjects(io, flags, [...definitions, ...objects, ...info], 'init');
  if (!isWritten) return false;
  if (isOcms) print('OCM’s cluster manager manages this hub: no controllers are added');
  for (const other of others) print(keepsDutiesText(other));
  if (installer !== undefined)
    print(`${installer} has installed the controllers: change their flags there; none are added`);
  if (flags.controllers && others.length > 0) print(NO_CONTROLLERS_ADDED);
  const installation = installationOf(io, hub, { installer: 'init', clock }, print);
  await applyObjects(installation, [...definitions, ...objects, ...info]);
  // They belong to the hub and not to the installation, so `berth clean` leaves them.
  const { MANAGED_CLUSTER_SET } = await import('@berth/kube/model/kinds');
  const { createIfAbsent } = await import('@berth/kube/create-if-absent');
  if (!isOcms && !others.some(({ keepsSets }) => keepsSets))
    for (const set of await missingSets(hub)) await createIfAbsent(hub, MANAGED_CLUSTER_SET, set);
  if (installsControllers && !isForPods)
    await startControllersHere(io, hub, flags, { print, settings, running });
  if (installsControllers && flags.wait) await waitForControllers(io, hub, flags, isForPods);
  return true;
}

interface NewSettings {
  readonly flags: InitFlags;
  readonly given: readonly string[];
  readonly isForPods: boolean;
}

/** The settings from now on, and the lines of what changes of the flags that run. */
async function newSettings(
  running: ControllerSettings | undefined,
  { flags: { onlyTheseFlags, secret = [] }, given, isForPods }: NewSettings,
): Promise<readonly [settings: ControllerSettings, changes: readonly string[]]> {
  const { flagsBefore } = await import('./hub-installation.ts');
  const before = flagsBefore(running, isForPods);
  const flags = addFlags(onlyTheseFlags ? flagsBefore({ flags: [] }, isForPods) : before, given);
  const changes = changedFlags(running?.flags ?? before, flags);
  const settings = {
    flags,
    secrets: [...new Set([...(onlyTheseFlags ? [] : (running?.secrets ?? [])), ...secret])],
  };
  return [settings, changes];
}

const indented = (lines: readonly string[]): string => lines.map((line) => `    ${line}`).join('\n');

/** @throws InputError for flags that no controllers would get */
function refuseServeFlags({ secret, onlyTheseFlags }: InitFlags, given: readonly string[]): void {
  if (given.length === 0 && secret === undefined && !onlyTheseFlags) return;
  throw new InputError('have no effect: this command adds no controllers', {
    code: 'cli.option',
    subject: 'Flags of berth serve',
    hint: 'give them to the controllers that run on the hub',
  });
}

const NO_CONTROLLERS_ADDED =
  'No controllers are added, because two with the same duty would conflict. berth serve can take the remaining duties: --registration names them, --schedule upstream leaves placements to OCM';

function keepsDutiesText({ name, lease, holder, does }: ActiveController): string {
  return `${name} is running (Lease ${lease}, held by ${printable(holder)}) and keeps its duties: ${does}`;
}

interface StartedHere {
  readonly print: (line: string) => void;
  readonly settings: ControllerSettings;
  readonly running: ControllerSettings | undefined;
}

/** Runs the controllers of a hub that cannot run pods. They start again with other flags. */
async function startControllersHere(
  io: CliIo,
  hub: KubeApi,
  flags: InitFlags,
  { print, settings, running }: StartedHere,
): Promise<void> {
  const { logOf, runningPid, startBackground, stopBackground, writePrivate } = await import(
    '../../../background/background-process.ts'
  );
  const { systemClock } = await import('@berth/runtime/clock/system-clock');
  const { CONTROLLERS, controllersArgs, controllersFolder, flagsBefore, storeFlags } = await import(
    './hub-installation.ts'
  );
  const folder = controllersFolder(io, hub.server);
  const differs = changedFlags(flagsBefore(running, false), settings.flags).length > 0;
  if (runningPid(folder) !== undefined && !differs) return;
  if (flags.start) await stopBackground(folder, systemClock);
  const kubeconfig = await accountKubeconfig(hub, CONTROLLERS, await serverEntry(io, flags));
  writePrivate(folder, 'hub.kubeconfig', kubeconfig);
  const args = controllersArgs(folder, settings.flags);
  if (!flags.start) {
    print(`The hub runs no pods: run its controllers on this machine.\n\n    berth ${args.join(' ')}\n`);
    return;
  }
  storeFlags(folder, settings.flags);
  const pid = startBackground({ folder, args, env: io.env });
  print(
    `The hub runs no pods: its controllers run on this machine as process ${String(pid)}, log ${logOf(folder)}`,
  );
}

async function waitForControllers(
  io: CliIo,
  hub: KubeApi,
  flags: InitFlags,
  isForPods: boolean,
): Promise<void> {
  const { areSetsKept, podProblem, podsOf } = await import(
    '../../../../controllers/installation/installed-state.ts'
  );
  const { logOf, runningPid } = await import('../../../background/background-process.ts');
  const { CONTROLLERS, controllersFolder } = await import('./hub-installation.ts');
  const folder = controllersFolder(io, hub.server);
  const hint = isForPods
    ? `kubectl -n ${CONTROLLERS.namespace} get pod shows why`
    : `their log is ${logOf(folder)}`;
  const problem = 'the controllers are not ready yet';
  const pending = { subject: hub.server, problem, hint, code: NOT_READY };
  await waitUntil(io, flags, async () => {
    if (!isForPods && flags.start && runningPid(folder) === undefined)
      throw new InputError('the controllers have ended', {
        code: 'install.ended',
        subject: hub.server,
        hint: hint,
      });
    const pods = isForPods ? await podsOf(hub, CONTROLLERS) : undefined;
    const isReady = (pods === undefined || pods.available > 0) && (await areSetsKept(hub));
    if (isReady) return undefined;
    const problemOfPod = isForPods ? await podProblem(hub, CONTROLLERS) : undefined;
    return problemOfPod === undefined ? pending : { ...pending, problem: `${problem}: ${problemOfPod}` };
  });
}

/** Publishes the address and authority of the hub, as cluster installers do. An existing ConfigMap stays. */
async function clusterInfo(io: CliIo, hub: KubeApi, flags: HubFlags): Promise<readonly KubeObject[]> {
  const existing = await hub.get(CONFIG_MAP, CLUSTER_INFO);
  const { isInstalledBy } = await import('../../../../core/registration/install/installed-object.ts');
  if (existing !== undefined && !isInstalledBy(existing, 'init')) return [];
  const { server, caData } = await serverEntry(io, flags);
  const cluster = { server, ...(caData !== undefined && { 'certificate-authority-data': caData }) };
  const config = { apiVersion: 'v1', kind: 'Config', clusters: [{ name: '', cluster }] };
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: CLUSTER_INFO,
      data: { kubeconfig: await renderDocument(config, 'yaml') },
    },
  ];
}
