import type { AnnouncedSettings } from '../../controllers/leadership/announced-settings.ts';
import { ControllerAnnouncement } from '../../controllers/leadership/controller-announcement.ts';
import { sourceNameOf } from '../../controllers/sources/progress/source-options.ts';
import { DEFAULT_REMOVAL_BUDGET } from '../../core/publish/judge/removal-budget.ts';
import { DEFAULT_DELETION_WINDOW_MS } from '../../core/sync/earlier-deletions.ts';
import { decidedPlacements, type ServeOptions } from '../settings/serve-options.ts';

/** What says on the hub what this controller writes there, if it is to. It is not started yet. */
export function openAnnouncement(options: ServeOptions): ControllerAnnouncement | undefined {
  const { announcement, api, clock, log, leadership, sources, registration, addons } = options;
  if (announcement === undefined) return undefined;
  return new ControllerAnnouncement({
    ...{ api, clock, log, ...announcement },
    duties: {
      decides: decidedPlacements(options),
      applies: sources.filter(({ sync }) => sync !== 'observe').map(sourceNameOf),
      registration: registration?.duties ?? [],
      addons: addons?.duties ?? [],
    },
    settings: announcedSettingsOf(options),
    mayBegin: async (signal) => leadership?.whenHeld(signal),
  });
}

/** What a plan must know of these options. */
function announcedSettingsOf(options: ServeOptions): AnnouncedSettings {
  const {
    engineVersion: version,
    embedded = false,
    budget: removalBudget = DEFAULT_REMOVAL_BUDGET,
  } = options;
  const { deletionWindowMs: deletionWindow = DEFAULT_DELETION_WINDOW_MS, decisionReasons = false } = options;
  const sources = options.sources.map((source) => {
    const { url, paths, kinds, budget, deletionWindowMs, allowEmpty, sync, force, onConflict } = source;
    return {
      ...{ name: sourceNameOf(source), url, paths: paths && [...paths], kinds: kinds && [...kinds] },
      ...{ removalBudget: budget, deletionWindow: deletionWindowMs, allowEmpty, sync, force, onConflict },
    };
  });
  return { version, embedded, removalBudget, deletionWindow, decisionReasons, sources };
}
