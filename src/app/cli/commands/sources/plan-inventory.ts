import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { InputError } from '@berth/runtime/errors';
import type { Inventory } from '../../../../core/preview/inventory/inventory.ts';
import type { CliIo } from '../../../terminal/cli-io.ts';
import { positiveDuration, wrongOption } from '../../flags/option-values.ts';

export interface InventoryFlags {
  readonly inventory?: string;
  readonly publicKey?: string;
  readonly maxAge?: string;
}

export function addInventoryFlags(command: Command): Command {
  return command
    .option(
      '--inventory <file>',
      'plan on an inventory that berth snapshot wrote; needs no access to the hub',
    )
    .option('--public-key <file>', 'public key of the signer of the inventory: Ed25519, PEM')
    .option('--max-age <duration>', 'refuse an inventory that is older, e.g. 24h (default: any age)');
}

export interface OpenedInventory {
  readonly inventory: Inventory;
  /** Whether its signature was checked. */
  readonly isVerified: boolean;
}

/**
 * Reads the inventory that the flags name; undefined: none.
 * @throws InputError for conflicting flags, and for an inventory that is broken, not signed with the
 * key, or too old
 */
export async function openInventory(
  io: CliIo,
  flags: InventoryFlags,
  { asksHub, nowMs }: { readonly asksHub: boolean; readonly nowMs: number },
): Promise<OpenedInventory | undefined> {
  const { inventory: file, publicKey: keyFile, maxAge } = flags;
  if (file === undefined) {
    if (keyFile !== undefined) throw wrongOption('--public-key', 'needs --inventory FILE');
    if (maxAge !== undefined) throw wrongOption('--max-age', 'needs --inventory FILE');
    return undefined;
  }
  if (asksHub) throw wrongOption('--inventory', 'cannot be used with a hub, expected one of them');
  const { parseInventory } = await import('../../../../controllers/previews/inventory/sign-inventory.ts');
  const maxAgeMs = maxAge === undefined ? Infinity : positiveDuration('--max-age', maxAge);
  const publicKey = keyFile === undefined ? undefined : await readKeyFile(io, '--public-key', keyFile);
  const inventory = parseInventory({ file, text: await readText(io, '--inventory', file), publicKey });
  const ageMs = nowMs - Date.parse(inventory.takenAt);
  if (ageMs > maxAgeMs)
    throw new InputError(`was written at ${inventory.takenAt}, which is older than ${maxAge}`, {
      code: 'inventory.age',
      subject: file,
      hint: 'write it again with berth snapshot',
    });
  return { inventory, isVerified: publicKey !== undefined };
}

/** @throws InputError when it cannot be read */
export async function readKeyFile(
  io: CliIo,
  option: string,
  file: string,
): Promise<{ readonly file: string; readonly pem: string }> {
  return { file, pem: await readText(io, option, file) };
}

async function readText(io: CliIo, option: string, file: string): Promise<string> {
  try {
    return await readFile(resolve(io.cwd, file), 'utf8');
  } catch (cause) {
    throw new InputError(`${file} cannot be read (${(cause as NodeJS.ErrnoException).code ?? 'unknown'})`, {
      code: 'cli.option',
      subject: option,
      cause,
    });
  }
}
