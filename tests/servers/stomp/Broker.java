import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Map;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.api.core.TransportConfiguration;
import org.apache.activemq.artemis.core.config.Configuration;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.remoting.impl.netty.NettyAcceptorFactory;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;

/**
 * ActiveMQ Artemis with STOMP over WebSocket, in memory; prints its port. Topics under `topic/` are made when they are
 * asked for. A client that announces heart-beats and sends nothing for twice their time, at least a second, is dropped.
 */
public class Broker {
    public static void main(String[] folder) throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        // Unless it is told, it answers in binary frames. In the URL of an acceptor that key has no effect.
        Map<String, Object> acceptor =
            Map.of("host", "127.0.0.1", "port", port, "protocols", "STOMP", "webSocketEncoderType", "text");
        Configuration configuration = new ConfigurationImpl()
            .setPersistenceEnabled(false)
            .setSecurityEnabled(false)
            .setJMXManagementEnabled(false)
            .setConnectionTtlCheckInterval(100)
            .addAcceptorConfiguration(new TransportConfiguration(NettyAcceptorFactory.class.getName(), acceptor, "stomp"))
            .addAddressSetting("topic/#", new AddressSettings().setDefaultAddressRoutingType(RoutingType.MULTICAST));
        configuration.setBrokerInstance(Path.of(folder[0]).toFile());
        EmbeddedActiveMQ broker = new EmbeddedActiveMQ();
        broker.setConfiguration(configuration);
        broker.start();
        System.out.println(port);
        System.out.flush();
    }
}
