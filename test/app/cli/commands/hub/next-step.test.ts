import { describe, expect, it } from 'vitest';
import { nextStep } from '../../../../../src/app/cli/commands/hub/next-step.ts';

describe('nextStep', () => {
  it.each([
    [false, 'berth init'],
    [true, 'berth get clusters'],
  ])('names the contexts and a command; members are registered: %j', (areRegistered, command) => {
    expect(nextStep('/d/admin.kubeconfig', ['edge1', 'edge2'], areRegistered)).toBe(
      'The kubeconfig has a context for the hub and for each member: hub, edge1, edge2\n' +
        `Next: export KUBECONFIG=/d/admin.kubeconfig && ${command} --context hub\n`,
    );
  });

  it('stays short with a thousand members', () => {
    const members = Array.from({ length: 1_000 }, (_, index) => `cluster${index}`);
    expect(nextStep('f', members, true).length).toBeLessThan(300);
  });
});
