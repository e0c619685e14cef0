import { formatNameList } from '@berth/runtime/text/name-list';

/**
 * What a person does next with a hub that has members, in two lines.
 * @param areRegistered whether the members have joined the hub already
 */
export function nextStep(kubeconfig: string, members: readonly string[], areRegistered: boolean): string {
  const command = areRegistered ? 'berth get clusters' : 'berth init';
  return (
    `The kubeconfig has a context for the hub and for each member: ${formatNameList(['hub', ...members])}\n` +
    `Next: export KUBECONFIG=${kubeconfig} && ${command} --context hub\n`
  );
}
