import { LEASE } from '@berth/kube/model/kinds';
import type { KubeApi } from '@berth/kube/model/kube-api';
import type { KubeObject } from '@berth/kube/model/object-meta';
import { InputError } from '@berth/runtime/errors';
import { z } from 'zod';
import { SETTINGS_ANNOTATION } from '../../core/registration/install/controller-announcement.ts';
import { CONTROLLER_LEASES } from '../inventory/schedulable-placement.ts';

const budget = z.object({ percent: z.number(), atLeast: z.number() });

const source = z.object({
  name: z.string(),
  url: z.string(),
  paths: z.array(z.string()).optional(),
  kinds: z.array(z.string()).optional(),
  removalBudget: budget.optional(),
  /** Milliseconds. */
  deletionWindow: z.number().optional(),
  allowEmpty: z.boolean().optional(),
  sync: z.enum(['apply', 'observe']).optional(),
  force: z.boolean().optional(),
  onConflict: z.enum(['report', 'take']).optional(),
});

const settings = z.object({
  /** Of Berth. */
  version: z.string(),
  /** With `--embedded`. */
  embedded: z.boolean(),
  removalBudget: budget,
  /** Milliseconds. */
  deletionWindow: z.number(),
  /** Absent: the version does not write reasons. */
  decisionReasons: z.boolean().optional(),
  sources: z.array(source),
});

/** A source that a controller follows, with what its own settings say. */
export type AnnouncedSource = z.infer<typeof source>;

/** The settings of `berth serve` that a plan must know to make the same decisions. */
export type AnnouncedSettings = z.infer<typeof settings>;

/**
 * Reads the settings that controllers announced on a hub, those of the last announcement first. Without the right to read
 * them there are none. What another version of Berth wrote in another form is ignored.
 * @param hub or an inventory of it
 */
export async function readAnnouncedSettings(
  hub: Pick<KubeApi, 'list'>,
): Promise<readonly AnnouncedSettings[]> {
  try {
    const { items } = await hub.list(LEASE, CONTROLLER_LEASES);
    return [...items]
      .sort((a, b) => (renewTimeOf(a) < renewTimeOf(b) ? 1 : -1))
      .flatMap((lease) => settingsIn(lease) ?? []);
  } catch (error) {
    if (error instanceof InputError) return [];
    throw error;
  }
}

/** What a controller announced in its Lease. Undefined: nothing, or in the form of another version. */
export function settingsIn({ metadata }: KubeObject): AnnouncedSettings | undefined {
  const text = metadata.annotations?.[SETTINGS_ANNOTATION];
  if (text === undefined) return undefined;
  try {
    return settings.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}

function renewTimeOf(lease: KubeObject): string {
  return ((lease['spec'] ?? {}) as { readonly renewTime?: string }).renewTime ?? '';
}
