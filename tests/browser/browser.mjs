// A headless Chromium, spoken to over its debugging pipe: messages are JSON, each ended by a NUL.
import {spawn} from 'node:child_process';

export class Browser {
    constructor(program, profile) {
        this.next = 1;
        this.waiting = new Map();
        this.listeners = [];
        this.child = spawn(program, [
            '--headless', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
            '--disable-background-networking', '--hide-scrollbars', `--user-data-dir=${profile}`,
            '--remote-debugging-pipe', 'about:blank',
        ], {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
        this.child.on('exit', (code) => {
            for (const {reject} of this.waiting.values()) reject(new Error(`the browser ended with ${code}`));
        });
        let rest = '';
        this.child.stdio[4].setEncoding('utf8').on('data', (text) => {
            const messages = (rest + text).split('\0');
            rest = messages.pop();
            for (const message of messages) this.take(JSON.parse(message));
        });
    }

    take(message) {
        const asked = this.waiting.get(message.id);
        if (!asked) {
            for (const listener of this.listeners) listener(message);
            return;
        }
        this.waiting.delete(message.id);
        if (message.error) asked.reject(new Error(`${asked.method}: ${message.error.message}`));
        else asked.resolve(message.result);
    }

    send(method, params = {}, sessionId = undefined) {
        const id = this.next++;
        this.child.stdio[3].write(`${JSON.stringify({id, method, params, sessionId})}\0`);
        return new Promise((resolve, reject) => this.waiting.set(id, {method, resolve, reject}));
    }

    async tab() {
        const {targetId} = await this.send('Target.createTarget', {url: 'about:blank'});
        const {sessionId} = await this.send('Target.attachToTarget', {targetId, flatten: true});
        return new Tab(this, sessionId);
    }

    async close() {
        const ended = new Promise((resolve) => this.child.on('exit', resolve));
        await this.send('Browser.close');
        await ended;
    }
}

/** One page, and everything it said or asked for. */
export class Tab {
    constructor(browser, session) {
        this.browser = browser;
        this.session = session;
        this.said = [];
        this.requests = [];
        this.loaded = () => {};
        browser.listeners.push(({sessionId, method, params}) => {
            if (sessionId === session) this.hear(method, params);
        });
    }

    hear(method, params) {
        if (method === 'Network.requestWillBeSent') this.requests.push(params.request.url);
        if (method === 'Log.entryAdded') this.said.push(`${params.entry.level}: ${params.entry.text}`);
        if (method === 'Runtime.exceptionThrown') this.said.push(params.exceptionDetails.text);
        if (method === 'Runtime.consoleAPICalled') this.said.push(`console.${params.type}`);
        if (method === 'Page.loadEventFired') this.loaded();
    }

    send(method, params) {
        return this.browser.send(method, params, this.session);
    }

    async open(url) {
        for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await this.send(`${domain}.enable`);
        await this.send('Emulation.setFocusEmulationEnabled', {enabled: true});
        const loaded = new Promise((resolve) => { this.loaded = resolve; });
        await this.send('Page.navigate', {url});
        await loaded;
    }

    async evaluate(expression) {
        const {result, exceptionDetails} = await this.send('Runtime.evaluate', {
            expression, awaitPromise: true, returnByValue: true, userGesture: true,
        });
        if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
        return result.value;
    }

    async look({width, height, scheme, mobile}) {
        await this.send('Emulation.setDeviceMetricsOverride', {width, height, mobile, deviceScaleFactor: 1});
        await this.send('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: scheme}]});
    }

    async press(key) {
        for (const type of ['keyDown', 'keyUp']) {
            await this.send('Input.dispatchKeyEvent', {type, key, code: key, windowsVirtualKeyCode: 9});
        }
    }

    async shot() {
        const {data} = await this.send('Page.captureScreenshot', {format: 'png'});
        return Buffer.from(data, 'base64');
    }
}
