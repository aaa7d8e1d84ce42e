// Copies text and confirms it briefly.

let say: (text: string) => void = () => {};
export function onCopied(listener: (text: string) => void): void { say = listener; }

// Without a clipboard API (old browsers, plain http), copies a selection.
function copySelection(text: string): boolean {
  const area = document.createElement('textarea');
  area.value = text;
  area.className = 'unseen';
  document.body.append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  return done;
}

export async function copy(text: string, what: string): Promise<void> {
  let done = false;
  try {
    await navigator.clipboard.writeText(text);
    done = true;
  } catch {
    done = copySelection(text);
  }
  say(done ? `Copied ${what}` : `This browser does not let the page copy`);
}
