import type { AgentEvent } from '@berth/agent/options/agent-options';
import type { Narrator } from './narrator.ts';

/** Describes what an agent did on its cluster. */
export function narrateAgentEvent(narrator: Narrator, event: AgentEvent): void {
  const on = `${event.cluster}: work ${event.work}`;
  switch (event.kind) {
    case 'applied':
      narrator.print('agent', `${on} applied, ${event.objects} objects`);
      return;
    case 'failed':
      narrator.print('agent', `${on} failed: ${event.problem}`);
      return;
    case 'corrected':
      narrator.print('agent', `${on}: ${event.object} was changed by someone else; corrected`);
      return;
    case 'feedback':
      for (const [object, values] of Object.entries(event.values)) {
        const texts = Object.entries(values).map(([name, value]) => `${name}=${value}`);
        if (texts.length > 0) narrator.print('agent', `${on}: ${object} reports ${texts.join(' ')}`);
      }
      return;
    case 'deleted':
      narrator.print('agent', `${on} deleted together with its objects`);
      return;
    case 'evicted':
      narrator.print('agent', `${on} evicted, because its hub no longer has it`);
      return;
  }
}
