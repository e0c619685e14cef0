import type { Command } from 'commander';
import {
  ACCEPT_NOBODY,
  compileAutoAcceptance,
} from '../../../../core/registration/acceptance/auto-acceptance.ts';
import { DUTIES, type RegistrationDuty } from '../../../../core/registration/duties.ts';
import type { ServeRegistrationOptions } from '../../../settings/serve-options.ts';
import { wrongOption, wrongValue } from '../../flags/wrong-option.ts';

/** Flags for what `berth serve` does for clusters that join. */
export interface RegistrationFlags {
  readonly registration?: readonly string[];
  readonly autoAcceptUser?: readonly string[];
  readonly autoAcceptRule?: readonly string[];
}

export function addRegistrationFlags(command: Command): Command {
  return command
    .option(
      '--registration <controller...>',
      `run these registration controllers, for a hub without OCM’s: ${DUTIES.join(', ')}; all (docs/registration.md)`,
    )
    .option('--auto-accept-user <user...>', 'users whose clusters are accepted without approval')
    .option(
      '--auto-accept-rule <cel...>',
      'CEL: accept a cluster if this is true of managedCluster and request (username, groups, uid, extra)',
    );
}

/**
 * Undefined: Berth runs no registration controllers, which is the default.
 *
 * @throws InputError for flags that cannot be used
 */
export function registrationOptions(
  flags: RegistrationFlags,
): Omit<ServeRegistrationOptions, 'clock'> | undefined {
  const { registration = [], autoAcceptUser: users = [], autoAcceptRule: rules = [] } = flags;
  const duties = registration.includes('all') ? DUTIES : registration.map(dutyOf);
  const decides = duties.includes('acceptance') || duties.includes('approval');
  if (!decides && users.length + rules.length > 0)
    throw wrongOption(
      users.length > 0 ? '--auto-accept-user' : '--auto-accept-rule',
      'has no effect without --registration acceptance approval',
    );
  if (duties.length === 0) return undefined;
  const autoAcceptance = decides ? compileAutoAcceptance(users, rules) : ACCEPT_NOBODY;
  return { duties: DUTIES.filter((duty) => duties.includes(duty)), autoAcceptance };
}

function dutyOf(text: string): RegistrationDuty {
  const duty = DUTIES.find((known) => known === text);
  if (duty === undefined) throw wrongValue('--registration', text, `${DUTIES.join(', ')} or all`);
  return duty;
}
