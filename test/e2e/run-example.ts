import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/**
 * Runs an example to its end.
 * @param name of its folder
 * @returns what it printed
 */
export async function runExample(name: string, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const script = join(import.meta.dirname, '../../examples', name, 'run.mjs');
  const { stdout } = await promisify(execFile)(process.execPath, [script], {
    env: { ...process.env, ...env },
  });
  return stdout;
}

/** What the example of the migration says, in this order, no matter what runs the Applications. */
export const MIGRATION_STEPS = [
  'east has joined',
  'west has joined',
  'shop-east is Synced and Healthy. On west there is none.',
  'east gets the taint maintenance',
  'shop-west is Synced and Healthy. On east there is none.',
  'west gets the taint unreachable',
  'shop-east is Healthy, with a warning: Another copy may still run: the hub told west to remove it',
  'On west itself shop-west is still Healthy',
  'west comes back',
  'shop-east is Synced and Healthy. On west there is none.',
  'The warning is gone.',
  'CAUSED BY',
  'ManagedCluster east',
  'ManagedCluster west',
  'TIME',
  'lease-expired',
  'unknown',
  'taint-added',
  'decision-moved',
  'available',
  'taint-removed',
];

/** The first of the texts that does not come after those before it. */
export function firstMissing(text: string, wanted: readonly string[]): string | undefined {
  let at = 0;
  return wanted.find((one) => {
    at = text.indexOf(one, at);
    if (at < 0) return true;
    at += one.length;
    return false;
  });
}
