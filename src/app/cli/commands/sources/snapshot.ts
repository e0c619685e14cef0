import { resolve } from 'node:path';
import { InputError } from '@berth/runtime/errors';
import { PRIVATE_FILE_MODE } from '@berth/runtime/files/private-mode';
import type { CliIo, ExitCode } from '../../../terminal/cli-io.ts';
import { addHubFlags, type HubFlags, withHub } from '../../flags/hub-flags.ts';
import { wrongOption } from '../../flags/option-values.ts';
import { packageVersion } from '../version.ts';
import type { CliCommand } from '../cli-command.ts';
import { readKeyFile } from './plan-inventory.ts';

interface SnapshotOptions extends HubFlags {
  readonly argocdNamespace: string;
  readonly file?: string;
  readonly key?: string;
  readonly newKey?: string;
}

export const snapshotCommand: CliCommand = {
  register(program, run) {
    const command = program
      .command('snapshot')
      .description(
        'write what plans need of a hub to a file, for berth plan --inventory without access to the hub',
      )
      .option('--file <file>', 'file to write (default: standard output)')
      .option('--key <file>', 'private key to sign the inventory with: Ed25519, PEM')
      .option('--new-key <file>', 'create such a key, with the public key in FILE.pub, and do nothing else')
      .option('--argocd-namespace <name>', 'namespace of Argo CD', 'argocd');
    addHubFlags(command)
      .addHelpText('after', HELP)
      .action(run((io, options: SnapshotOptions) => snapshot(io, options)));
  },
};

const HELP = `
The file contains clusters, sets, scores, placements and decisions, and of all other objects only what a
plan counts. It contains no data of Secrets and no content of works.

Exit codes: 0 written, 1 failed.

Examples:
  berth snapshot --new-key inventory.key
  berth snapshot --kubeconfig hub.kubeconfig --key inventory.key --file inventory.json
  berth plan --base main --head my-branch --inventory inventory.json --public-key inventory.key.pub
`;

async function snapshot(io: CliIo, options: SnapshotOptions): Promise<ExitCode> {
  if (options.newKey !== undefined) return makeKeys(io, options, options.newKey);
  const key = options.key === undefined ? undefined : await readKeyFile(io, '--key', options.key);
  const { readInventory } = await import('../../../../controllers/previews/inventory/read-inventory.ts');
  const { renderInventory } = await import('../../../../controllers/previews/inventory/sign-inventory.ts');
  const engine = await packageVersion();
  const { argocdNamespace } = options;
  const inventory = await withHub(io, options, (api) =>
    readInventory(api, { takenAt: new Date().toISOString(), engine, argocdNamespace }),
  );
  for (const { kind, problem } of inventory.unread)
    io.stderr.write(`${kind}: cannot be read, which the inventory records: ${problem}\n`);
  const text = renderInventory(inventory, key);
  if (options.file === undefined) io.stdout.write(text);
  else await writeNew(io, options.file, text, {});
  return 0;
}

async function makeKeys(io: CliIo, options: SnapshotOptions, file: string): Promise<ExitCode> {
  if (options.key !== undefined || options.file !== undefined)
    throw wrongOption('--new-key', 'cannot be used with --key or --file');
  const { generateKeyPairSync } = await import('node:crypto');
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  await writeNew(io, file, privateKey.export({ type: 'pkcs8', format: 'pem' }), {
    mode: PRIVATE_FILE_MODE,
    flag: 'wx',
  });
  await writeNew(io, `${file}.pub`, publicKey.export({ type: 'spki', format: 'pem' }), { flag: 'wx' });
  return 0;
}

async function writeNew(
  io: CliIo,
  file: string,
  text: string | Buffer,
  options: { readonly mode?: number; readonly flag?: string },
): Promise<void> {
  const { writeFile } = await import('node:fs/promises');
  try {
    await writeFile(resolve(io.cwd, file), text, options);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const problem =
      code === 'EEXIST' ? 'exists already, and is not overwritten' : `cannot be written (${code})`;
    throw new InputError(problem, { code: 'file.write', subject: file, cause });
  }
}
