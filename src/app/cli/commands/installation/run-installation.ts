import { writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { InputError } from '@berth/runtime/errors';
import { printable } from '@berth/runtime/text/printable';
import type { KubeObject } from '@berth/kube/model/object-meta';
import type { Clock } from '@berth/runtime/clock/clock';
import type { KubeApi } from '@berth/kube/model/kube-api';
import { labelInstalled, type Installer } from '../../../../core/registration/install/installed-object.ts';
import type { Installation } from '../../../../controllers/installation/apply-objects.ts';
import { PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';
import { sleep } from '@berth/runtime/loop/sleep';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { renderDocument } from '../../../terminal/output-format.ts';
import { durationOrSeconds, wrongValue } from '../../flags/option-values.ts';

/** Flags of the commands that install something. */
export interface InstallFlags {
  readonly wait: boolean;
  readonly timeout: string;
  readonly dryRun: boolean;
  readonly outputFile?: string;
  readonly imageRegistry?: string;
  readonly bundleVersion: string;
  readonly start: boolean;
}

export function addInstallFlags(command: Command, waitsFor: string): Command {
  return command
    .option('--wait', `wait until ${waitsFor}`, false)
    .option('--timeout <duration>', 'how long --wait waits: a duration, or seconds', '5m')
    .option('--dry-run', 'print the objects, and write and start nothing', false)
    .option('--output-file <file>', 'also write the objects to a file; it contains secrets')
    .option(
      '--bundle-version <version>',
      'version of the image: default (that of this program), latest, or X.Y.Z',
      'default',
    )
    .option('--image-registry <registry>', 'registry of the image, as REGISTRY/berth')
    .option(
      '--no-start',
      'if the cluster cannot run pods: print the command, and do not start it in the background',
    );
}

/** @throws InputError for an invalid version */
export async function imageOf({ bundleVersion, imageRegistry }: InstallFlags): Promise<string> {
  const name = imageRegistry === undefined ? 'berth' : `${imageRegistry}/berth`;
  if (bundleVersion === 'latest') return `${name}:latest`;
  const { packageVersion } = await import('../version.ts');
  const version = bundleVersion === 'default' ? await packageVersion() : bundleVersion.replace(/^v/, '');
  if (/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) return `${name}:${version}`;
  throw wrongValue('--bundle-version', bundleVersion, 'default, latest or a version such as 0.1.0');
}

/**
 * An image makes no sense on a cluster without nodes.
 * @throws InputError when a flag names one
 */
export function refuseImage({ bundleVersion, imageRegistry }: InstallFlags, cluster: string): void {
  const flag =
    imageRegistry !== undefined
      ? '--image-registry'
      : bundleVersion === 'default'
        ? undefined
        : '--bundle-version';
  if (flag !== undefined)
    throw new InputError(
      `has no effect here: ${cluster} runs no pods, so this program runs instead of an image`,
      {
        code: 'cli.option',
        subject: flag,
      },
    );
}

/** Returns milliseconds. A number without a unit is in seconds. */
export function timeoutOf({ timeout }: Pick<InstallFlags, 'timeout'>): number {
  return durationOrSeconds('--timeout', timeout);
}

/** Objects as `--dry-run` prints them. */
export async function printedObjects(objects: readonly KubeObject[], installer: Installer): Promise<string> {
  const labelled = objects.map((object) => labelInstalled(object, installer));
  return (await Promise.all(labelled.map((object) => renderDocument(object, 'yaml')))).join('---\n');
}

/**
 * Writes or prints objects, depending on the flags.
 * @returns whether they must also be applied to the cluster
 */
export async function showObjects(
  io: CliIo,
  { dryRun, outputFile }: Pick<InstallFlags, 'dryRun' | 'outputFile'>,
  objects: readonly KubeObject[],
  installer: Installer,
): Promise<boolean> {
  if (outputFile === undefined && !dryRun) return true;
  const text = await printedObjects(objects, installer);
  if (outputFile !== undefined)
    await writeFile(resolve(io.cwd, outputFile), text, { mode: PRIVATE_FILE_MODE });
  if (dryRun) io.stdout.write(text);
  return !dryRun;
}

/** Parses the objects in a rendered YAML text. */
export async function objectsIn(text: string): Promise<readonly KubeObject[]> {
  const { loadAll } = await import('js-yaml');
  return loadAll(text) as readonly KubeObject[];
}

export function installationOf(
  io: CliIo,
  api: KubeApi,
  { installer, clock }: { readonly installer: Installer; readonly clock: Clock },
  print = (line: string): void => void io.stdout.write(`${printable(line)}\n`),
): Installation {
  return { api, installer, clock, signal: io.signal, report: print };
}

const CHECK_INTERVAL_MS = 500;

/** What a command waits for. */
export interface Pending {
  readonly subject: string;
  readonly problem: string;
  readonly hint: string;
  /** Default: `install.wait`. */
  readonly code?: string;
}

/**
 * Waits until nothing is missing. Says what is missing whenever that changes.
 * @param missing what is missing now
 * @throws InputError after the timeout, with what is missing then
 */
export async function waitUntil(
  io: CliIo,
  flags: Pick<InstallFlags, 'timeout'>,
  missing: () => Promise<Pending | undefined>,
): Promise<void> {
  const { systemClock } = await import('@berth/runtime/clock/system-clock');
  const deadlineMs = systemClock.now() + timeoutOf(flags);
  let said: string | undefined;
  for (;;) {
    const pending = await missing();
    if (pending === undefined) return;
    const step = `${pending.subject}: ${pending.problem}`;
    if (step !== said) io.stderr.write(`waiting: ${printable(step)}\n`);
    said = step;
    if (systemClock.now() >= deadlineMs || io.signal.aborted)
      throw new InputError(pending.problem, { code: 'install.wait', ...pending });
    await sleep(systemClock, CHECK_INTERVAL_MS, io.signal);
  }
}
